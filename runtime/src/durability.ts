import type { NatsConnection } from "@nats-io/nats-core";
import { AntiphonError } from "@antiphon/contracts";

/**
 * Is a PubAck a promise? Only if the server fsyncs before it answers (`sync_interval: always`).
 *
 * A client learns it in one of two ways, tried in this order:
 *   1. over NATS, if the server imports `$SYS.REQ.SERVER.PING.JSZ` into our account (`antiphon dev` does);
 *   2. from the monitoring endpoint `/jsz?config=true`, given as a URL (compose and Kubernetes do that); it must
 *      name the server we are connected to.
 */
interface JszAnswer {
  serverId: string;
  syncAlways: boolean;
}

export async function requireDurability(
  nc: NatsConnection,
  options: { monitorUrl?: string; unsafe?: boolean },
): Promise<"confirmed" | "waived"> {
  if (nc.info?.jetstream !== true) {
    throw new AntiphonError("ANT_NATS_UNREACHABLE", "the server runs without JetStream", {
      data: { server: nc.getServer() },
    });
  }
  if (options.unsafe === true) return "waived";
  const answers = await ask(nc, options.monitorUrl);
  const own = nc.info?.server_id;
  const mine = answers.filter((answer) => answer.serverId === own);
  if (mine.length === 0) {
    throw new AntiphonError(
      "ANT_NATS_UNSAFE_DURABILITY",
      "the server did not say whether it fsyncs before it acknowledges",
      { data: { server: nc.getServer() } },
    );
  }
  // In a cluster a stream may live on any server, so all of them have to be safe.
  if (!answers.every((answer) => answer.syncAlways)) {
    throw new AntiphonError(
      "ANT_NATS_UNSAFE_DURABILITY",
      "the server acknowledges before it fsyncs (sync_interval is not 'always')",
      { data: { server: nc.getServer() } },
    );
  }
  return "confirmed";
}

async function ask(nc: NatsConnection, monitorUrl: string | undefined): Promise<JszAnswer[]> {
  const overNats = await askOverNats(nc);
  if (overNats.length > 0 || monitorUrl === undefined) return overNats;
  const urls = monitorUrl.split(",").filter((url) => url.length > 0);
  const answers = await Promise.all(urls.map((url) => askMonitor(url)));
  return answers.filter((answer) => answer !== null);
}

async function askOverNats(nc: NatsConnection): Promise<JszAnswer[]> {
  const subject = "$SYS.REQ.SERVER.PING.JSZ";
  const clustered = nc.info?.cluster !== undefined;
  try {
    if (!clustered) {
      const message = await nc.request(subject, '{"config":true}', { timeout: 2000 });
      return parse(message.string());
    }
    const answers: JszAnswer[] = [];
    const replies = await nc.requestMany(subject, '{"config":true}', { strategy: "stall", maxWait: 2000 });
    for await (const message of replies) answers.push(...parse(message.string()));
    return answers;
  } catch {
    // No import, no permission or no answer: the monitoring endpoint is the other way.
    return [];
  }
}

async function askMonitor(url: string): Promise<JszAnswer | null> {
  try {
    const answer = await fetch(new URL("/jsz?config=true", url), { signal: AbortSignal.timeout(2000) });
    return parse(await answer.text())[0] ?? null;
  } catch {
    return null; // unreachable monitor: reported as "did not say"
  }
}

function parse(text: string): JszAnswer[] {
  const body = JSON.parse(text) as JszBody & { data?: JszBody };
  const jsz = body.data ?? body;
  // A server without JetStream stores nothing and has no say.
  if (jsz.server_id === undefined || jsz.config === undefined) return [];
  return [{ serverId: jsz.server_id, syncAlways: jsz.config.sync_always === true }];
}

interface JszBody {
  server_id?: string;
  config?: { sync_always?: boolean };
}
