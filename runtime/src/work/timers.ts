import { setMaxListeners } from "node:events";
import type { Msg } from "@nats-io/nats-core";
import { createInbox } from "@nats-io/nats-core";
import type { TimerAddress } from "@antiphon/contracts";
import {
  AntiphonError,
  TIMER_CONSUMER,
  TIMER_STREAM,
  limits,
  parseTimerSubject,
  timerSubjects,
} from "@antiphon/contracts";
import { backoffMs } from "../process/backoff.ts";
import type { Bus } from "../nats/bus.ts";
import { headerLines } from "../nats/wire-headers.ts";
import { Heartbeats } from "./heartbeats.ts";
import { parseAckSubject } from "./ack-subject.ts";
import type { Logger } from "../process/logger.ts";
import { ackVerb } from "./outcome.ts";
import { PullLoop } from "./pull-loop.ts";

/**
 * Timers that outlive every process: messages that the server holds back until their time (ADR-51).
 *
 * Lifecycle of a timer: set -> due (moved by the server) -> handled (acknowledged), forgotten after a week.
 *
 * Setting a running timer again changes nothing. A due timer is delivered until its handler succeeds. It may be set,
 * and come due, more than once, so its handler must be idempotent.
 */
export interface Timers {
  /** False: it is set already. Throws if its fate is unknown. */
  set(address: TimerAddress, at: Date): Promise<boolean>;
}

export interface DueTimer {
  readonly address: TimerAddress;
  /** When the server made it due, by the server's clock, as in the journal. */
  readonly at: Date;
}

export interface TimerConsumption {
  slots: number;
  log: Logger;
  signal: AbortSignal;
  /** "again": it is delivered once more, a little later. */
  handle: (due: DueTimer) => Promise<"done" | "again">;
}

const KEPT = "168h";
const retryPolicy = { baseMs: 100, capMs: 30_000 };

export function openTimers(bus: Bus): Timers {
  return {
    async set(address, at) {
      const result = await bus.publish({
        stream: TIMER_STREAM,
        subject: timerSubjects.set(address),
        payload: new Uint8Array(),
        headers: headerLines({
          "Nats-Schedule": `@at ${at.toISOString()}`,
          "Nats-Schedule-Target": timerSubjects.due(address),
          "Nats-Schedule-TTL": KEPT,
        }),
        expectLastSubjectSequence: 0,
        group: false,
      });
      if (result.kind === "ok") return true;
      if (result.kind === "failed" && result.refusal === "expectation") return false;
      const why = result.kind === "failed" ? result.description : result.reason;
      throw new AntiphonError(
        "ANT_NATS_UNREACHABLE",
        `timer ${timerSubjects.set(address)} is not set: ${why}`,
      );
    },
  };
}

/** Hands due timers to `handle`; if that throws, the timer is delivered again later. Drains with the bus. */
export function consumeTimers(bus: Bus, options: TimerConsumption): void {
  const { slots, log, signal } = options;
  setMaxListeners(0, signal);
  const heartbeats = new Heartbeats(limits.directorAckWaitMs);
  const onMessage = (message: Msg): Promise<void> => deliver(bus, options, heartbeats, message);
  const loop = new PullLoop(
    bus,
    { stream: TIMER_STREAM, consumer: TIMER_CONSUMER, slots, log, onMessage },
    createInbox(),
  );
  const stop = async (): Promise<void> => {
    loop.stop();
    await loop.idleSlots();
    loop.close();
  };
  bus.onDrain(stop);
  signal.addEventListener("abort", () => void stop(), { once: true });
}

const later = (deliveries: number): string =>
  ackVerb({ kind: "retry", delayMs: backoffMs(deliveries - 1, retryPolicy, Math.random()) }).payload;

async function deliver(
  bus: Bus,
  { log, handle }: TimerConsumption,
  heartbeats: Heartbeats,
  message: Msg,
): Promise<void> {
  const info = parseAckSubject(message.reply ?? "");
  if (info === null) return;
  const say = (verb: string): void => {
    if (!bus.nc.isClosed()) message.respond(verb);
  };
  const held = { beat: () => say("+WPI") };
  heartbeats.hold(held);
  try {
    const outcome = await handle({ address: parseTimerSubject(message.subject), at: new Date(info.atMs) });
    say(outcome === "done" ? "+ACK" : later(info.deliveries));
  } catch (thrown) {
    const { code } = AntiphonError.from(thrown);
    log.warn({ err: thrown, code, subject: message.subject }, "timer not handled; will retry");
    say(later(info.deliveries));
  } finally {
    heartbeats.release(held);
  }
}
