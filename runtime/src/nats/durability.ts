import type { NatsConnection } from "@nats-io/nats-core";
import { AntiphonError } from "@antiphon/contracts";
import { backoffMs } from "../process/backoff.ts";
import { askSyncMode } from "./sync-mode.ts";

/**
 * Checks that a PubAck means durable: the server has to fsync before it acknowledges (`sync_interval: always`).
 *
 * Only an explicit answer makes a server unsafe. A busy machine answers late, not wrongly, so a silent server is asked
 * again, each time with a longer timeout; when the time is over, the silence is an error of its own.
 */
export interface DurabilityQuestion {
  monitorUrl?: string;
  /** ANTIPHON_UNSAFE_DURABILITY: skip the check. */
  unsafe?: boolean;
  /** Timeout of the first question; doubles with each. Default 2,000. */
  firstAnswerMs?: number;
  /** Time limit of the whole check. Default 30,000. */
  withinMs?: number;
}

const betweenQuestions = { baseMs: 100, capMs: 2_000 };

export async function requireDurability(
  nc: NatsConnection,
  { monitorUrl, unsafe = false, firstAnswerMs = 2_000, withinMs = 30_000 }: DurabilityQuestion,
): Promise<"confirmed" | "waived"> {
  if (nc.info?.jetstream !== true) {
    throw new AntiphonError("ANT_NATS_UNREACHABLE", "the server runs without JetStream", {
      data: { server: nc.getServer() },
    });
  }
  if (unsafe) return "waived";
  const until = performance.now() + withinMs;
  for (let asked = 0; ; asked += 1) {
    const left = Math.max(1, Math.round(until - performance.now()));
    const heard = await askSyncMode(nc, monitorUrl, Math.min(left, firstAnswerMs * 2 ** asked));
    if (heard.kind === "told") {
      const own = heard.servers.some(({ serverId }) => serverId === nc.info?.server_id);
      if (!own) throw unknown(nc, "the monitoring endpoint is not that of the server we are connected to");
      // In a cluster a stream may be placed on any server, so all of them have to be safe.
      if (heard.servers.every(({ syncAlways }) => syncAlways)) return "confirmed"; // runtime/J7
      throw new AntiphonError(
        "ANT_NATS_UNSAFE_DURABILITY",
        "the server acknowledges before it fsyncs (sync_interval is not 'always')",
        { data: { server: nc.getServer() } },
      );
    }
    if (heard.kind === "mute") throw unknown(nc, `${heard.why}, and no monitoring endpoint is set`);
    const delay = backoffMs(asked, betweenQuestions, Math.random());
    if (performance.now() + delay >= until) throw unknown(nc, `asked ${asked + 1} times: ${heard.why}`);
    await pause(delay);
  }
}

function unknown(nc: NatsConnection, why: string): AntiphonError {
  return new AntiphonError(
    "ANT_NATS_DURABILITY_UNKNOWN",
    `the server did not say whether it fsyncs before it acknowledges: ${why}`,
    { data: { server: nc.getServer() } },
  );
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
