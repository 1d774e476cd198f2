import { setMaxListeners } from "node:events";
import type { Msg } from "@nats-io/nats-core";
import { createInbox } from "@nats-io/nats-core";
import type { ConsumerName, StoredRecord } from "@antiphon/contracts";
import { AntiphonError, limits, topologyOf } from "@antiphon/contracts";
import { backoffMs } from "../process/backoff.ts";
import type { Bus } from "../nats/bus.ts";
import type { DeliveryInfo } from "./ack-subject.ts";
import { parseAckSubject } from "./ack-subject.ts";
import { Generations } from "../process/generations.ts";
import { storeLetter } from "./dead-letters.ts";
import { Heartbeats } from "./heartbeats.ts";
import { judgeReport, noise } from "../journal/reporters.ts";
import type { Logger } from "../process/logger.ts";
import type { Outcome } from "./outcome.ts";
import { ackVerb } from "./outcome.ts";
import { PullLoop, Semaphore } from "./pull-loop.ts";
import { headersOf } from "../nats/wire-headers.ts";
import type { RecordMessage } from "../journal/record-reader.ts";

/**
 * Consumes the journal: each record that a durable consumer delivers is handled in a slot, and the table in outcome.ts
 * turns the handler's decision into the answer to the server.
 *
 * Lifecycle: running -> draining (no new work, handlers finish) -> stopped (unfinished records are handed back). While
 * a handler works, the server is told so three times per ack wait, so live work is not redelivered.
 *
 * Promises:
 *   runtime/J4 Because a process can die at any moment, a delivery is acknowledged only after its handler has returned
 *     and all its outputs are stored, so an interrupted delivery is handled again.
 *   runtime/J5 Because one bad message must not stop the others, a record whose handler keeps failing, or that probably
 *     keeps crashing its consumers, becomes a dead letter before its delivery is terminated, and a request that cannot
 *     be handled gets a coded error, while the next one is heard.
 */
export interface Delivery {
  record: StoredRecord;
  /** 1 on the first delivery. More: an earlier handler did not finish. */
  deliveries: number;
  /** Aborts when the process has to stop before the handler is done. */
  signal: AbortSignal;
}

export interface ConsumeOptions {
  consumer: ConsumerName;
  /** Records handled at the same time. Slow work: 1 per worker. */
  slots: number;
  log: Logger;
  /** Hard stop: handlers are aborted, unfinished deliveries handed back. */
  signal: AbortSignal;
  handle(delivery: Delivery): Promise<Outcome>;
  /** An unexpected error thrown on this many deliveries of one record makes it a dead letter. Default 10. */
  poisonAfter?: number;
  /** Delivered more often, a record that this process has not handed back before becomes a dead letter. Default 100. */
  killerAfter?: number;
  /** True: the record comes again because its work takes long, however often; so it is handled and does not become a dead letter. */
  isHeld?: (record: StoredRecord) => Promise<boolean>;
  /** The consumer's ack wait, if it differs from the topology's. */
  ackWaitMs?: number;
}

export interface Consumption {
  /** Records being handled now. */
  readonly busy: number;
  /** Stops pulling and waits for the handlers, at most `deadlineMs` (default limits.drainMs less 5 s). */
  drain(deadlineMs?: number): Promise<void>;
}

const retryPolicy = { baseMs: 500, capMs: 30_000 };
/**
 * A record delivered this often probably crashes its consumers, unless this process handed it back and survived. The
 * server counts deliberate retries in the same number, and an outage may cause any number of them.
 */
const killerDeliveries = 100;
/** A record of a newer release is left to a service of that release, which gets it at the next delivery. */
const newerDelayMs = 1_000;
/** At least this many returned deliveries are remembered. */
const rememberedReturns = 10_000;

export function consume(bus: Bus, options: ConsumeOptions): Consumption {
  const specs = topologyOf(bus.partitions).consumers.filter((spec) => spec.name === options.consumer);
  const abort = new AbortController();
  setMaxListeners(0, abort.signal); // every delivery and append in flight listens to it
  const slots = Math.max(1, Math.ceil(options.slots / specs.length));
  const semaphore = new Semaphore(options.slots);
  const returned = new Generations<true>(rememberedReturns);
  const loops = specs.map((spec) => {
    const heartbeats = new Heartbeats(options.ackWaitMs ?? spec.ackWaitMs);
    const onMessage = (message: Msg): Promise<void> =>
      deliver(bus, options, heartbeats, returned, abort.signal, message);
    const { stream, keepsToOne } = spec;
    const turn = keepsToOne ? { turn: Math.floor(10 * Math.random()) } : {};
    return new PullLoop(
      bus,
      { stream, consumer: spec.name, slots, semaphore, log: options.log, onMessage, ...turn },
      createInbox(),
    );
  });

  let drained: Promise<void> | null = null;
  const drain = (deadlineMs: number): Promise<void> => {
    drained ??= (async () => {
      for (const loop of loops) loop.stop();
      const deadline = setTimeout(() => abort.abort(), deadlineMs);
      await Promise.all(loops.map((loop) => loop.idleSlots()));
      clearTimeout(deadline);
      for (const loop of loops) loop.close();
      options.signal.removeEventListener("abort", onAbort);
      offDrain();
    })();
    return drained;
  };
  const onAbort = (): void => {
    abort.abort();
    void drain(0);
  };
  const offDrain = bus.onDrain(() => drain(limits.drainMs - 5000));
  options.signal.addEventListener("abort", onAbort, { once: true });
  if (options.signal.aborted) onAbort();

  return {
    get busy() {
      return loops.reduce((sum, loop) => sum + loop.busySlots, 0);
    },
    drain: (deadlineMs = limits.drainMs - 5000) => drain(deadlineMs),
  };
}

async function deliver(
  bus: Bus,
  options: ConsumeOptions,
  heartbeats: Heartbeats,
  returned: Generations<true>,
  signal: AbortSignal,
  message: Msg,
): Promise<void> {
  const info = parseAckSubject(message.reply ?? "");
  if (info === null) return;
  const place = `${info.stream} ${info.seq}`;
  const isKiller = info.deliveries > (options.killerAfter ?? killerDeliveries) && !returned.has(place);
  const held = { beat: () => say(bus, message, "+WPI") };
  heartbeats.hold(held);
  try {
    const outcome = patient(
      await decide(bus, options, { ...info, isKiller }, signal, message),
      info.deliveries,
    );
    if (outcome.kind === "retry") returned.set(place, true);
    const { verb, ...rest } = ackVerb(outcome);
    if (
      verb === "term" &&
      "deadLetter" in rest &&
      !(await bury(bus, options, info, message, rest.deadLetter))
    ) {
      const delayMs = backoffMs(info.deliveries, retryPolicy, Math.random());
      say(bus, message, ackVerb({ kind: "retry", delayMs }).payload); // runtime/J5
      return;
    }
    say(bus, message, rest.payload); // runtime/J4
  } finally {
    heartbeats.release(held);
  }
}

/** Delays a record longer the more often it came back, so that a long outage does not look like poison. */
function patient(outcome: Outcome, deliveries: number): Outcome {
  if (outcome.kind !== "retry") return outcome;
  const floorMs = deliveries < 6 ? 0 : backoffMs(deliveries - 6, retryPolicy, 1);
  return { ...outcome, delayMs: Math.max(outcome.delayMs, floorMs) };
}

async function decide(
  bus: Bus,
  options: ConsumeOptions,
  info: DeliveryInfo & { readonly isKiller: boolean },
  signal: AbortSignal,
  message: Msg,
): Promise<Outcome> {
  const { log } = options;
  if (signal.aborted) return { kind: "retry", delayMs: 0 }; // Arrived after shutdown; return it.
  const header = headersOf(message);
  const { deliveries, seq } = info;
  const stored = { subject: message.subject, seq, at: new Date(info.atMs), data: message.data, header };
  let record: StoredRecord;
  try {
    record = bus.records.read(stored);
  } catch (error) {
    return unreadable(bus, options, info, stored, error).catch((thrown: unknown) =>
      thrownOutcome(options, { subject: message.subject, seq, deliveries }, thrown, signal),
    );
  }
  const at = {
    run: record.runId,
    task: record.taskId,
    epoch: record.epoch,
    type: record.type,
    seq,
    deliveries,
  };
  try {
    if (info.isKiller && (await options.isHeld?.(record)) !== true) {
      log.error(at, "record probably crashes its consumers; giving up");
      const detail = `delivered ${deliveries} times, never finished`;
      return { kind: "terminal", code: "ANT_TASK_POISON", detail }; // runtime/J5
    }
    const { doubt } = await judgeReport(bus, info.stream, stored, record);
    if (doubt !== null) {
      bus.forged.alarm(stored, doubt, info.stream); // runtime/J14
      return { kind: "done" };
    }
    const outcome = await traced(bus, options, { record, deliveries, signal });
    if (outcome.kind === "retry")
      log.info({ ...at, code: outcome.code, delayMs: outcome.delayMs }, "will retry");
    if (outcome.kind === "terminal")
      log.error({ ...at, code: outcome.code, detail: outcome.detail }, "terminal");
    return outcome;
  } catch (thrown) {
    return thrownOutcome(options, at, thrown, signal);
  }
}

async function unreadable(
  bus: Bus,
  { log }: ConsumeOptions,
  { stream, seq }: DeliveryInfo,
  stored: RecordMessage,
  error: unknown,
): Promise<Outcome> {
  const { subject } = stored;
  const { code, detail } = AntiphonError.from(error, "ANT_JOURNAL_CORRUPT");
  if (code === "ANT_JOURNAL_NEWER") {
    log.warn({ subject, seq, code, delayMs: newerDelayMs }, "left to a newer service");
    return { kind: "retry", delayMs: newerDelayMs, code };
  }
  const why = await noise(bus, stream, stored);
  if (why !== null) {
    bus.forged.alarm(stored, why, stream); // runtime/J14
    return { kind: "done" };
  }
  log.error({ subject, seq, code, detail }, "unreadable record");
  return { kind: "terminal", code, detail };
}

/** The handler, as a span of the record's stage. */
function traced(bus: Bus, options: ConsumeOptions, delivery: Delivery): Promise<Outcome> {
  if (!bus.tracer.isOn) return options.handle(delivery);
  const { record, deliveries } = delivery;
  const attributes = {
    "messaging.system": "nats",
    "messaging.destination.name": record.subject,
    "antiphon.deliveries": deliveries,
  };
  const parent = bus.records.traces.contextOf(record);
  return bus.tracer.span(
    { name: `${options.consumer} ${record.type}`, kind: "consumer", parent, attributes },
    async (note) => {
      const outcome = await options.handle(delivery);
      note({ "antiphon.outcome": outcome.kind });
      return outcome;
    },
  );
}

function thrownOutcome(
  options: ConsumeOptions,
  at: { readonly deliveries: number; readonly [field: string]: unknown },
  thrown: unknown,
  signal: AbortSignal,
): Outcome {
  const error = AntiphonError.from(thrown);
  if (signal.aborted) return { kind: "retry", delayMs: 0, code: error.code }; // stopping: hand it back
  const delayMs = backoffMs(at.deliveries - 1, retryPolicy, Math.random());
  // An unknown error is probably a bug that will not go away; a coded outage may last any time.
  const hopeless = error.disposition !== "retry" || error.code === "ANT_INTERNAL";
  if (hopeless && at.deliveries >= (options.poisonAfter ?? 10)) {
    options.log.error({ ...at, err: thrown, code: error.code }, "handler keeps failing; giving up");
    return { kind: "terminal", code: error.code, detail: error.detail }; // runtime/J5
  }
  options.log.warn({ ...at, err: thrown, code: error.code, delayMs }, "handler failed; will retry");
  return { kind: "retry", delayMs, code: error.code };
}

/** Stores the dead letter. True: it is stored, by this call or an earlier one. */
async function bury(
  bus: Bus,
  options: ConsumeOptions,
  info: DeliveryInfo,
  message: Msg,
  letter: { code: string; detail: string },
): Promise<boolean> {
  const { stream, seq, deliveries } = info;
  const origin = { subject: message.subject, seq, stream };
  const { consumer } = options;
  const stored = await storeLetter(bus, { ...letter, consumer, deliveries, origin, data: message.data });
  if (!stored) options.log.error(origin, "dead letter could not be stored");
  return stored;
}

function say(bus: Bus, message: Msg, verb: string): void {
  if (message.reply !== undefined && !bus.nc.isClosed()) bus.nc.publish(message.reply, verb);
}
