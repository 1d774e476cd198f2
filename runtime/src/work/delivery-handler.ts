import type { Msg } from "@nats-io/nats-core";
import type { ConsumerName, StoredRecord } from "@antiphon/contracts";
import { AntiphonError } from "@antiphon/contracts";
import { judgeReport, noise } from "../journal/reporters.ts";
import type { RecordMessage } from "../journal/record-reader.ts";
import type { Bus } from "../nats/bus.ts";
import { headersOf } from "../nats/wire-headers.ts";
import { backoffMs } from "../process/backoff.ts";
import type { Generations } from "../process/generations.ts";
import type { Logger } from "../process/logger.ts";
import { parseAckSubject, type DeliveryInfo } from "./ack-subject.ts";
import { storeLetter } from "./dead-letters.ts";
import { ackVerb, type Outcome } from "./outcome.ts";

/**
 * Handles one delivery: reads and judges its record, lets the handler decide, and turns that decision into the answer to the
 * server by the table in outcome.ts.
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

const retryPolicy = { baseMs: 500, capMs: 30_000 };
/**
 * A record delivered this often probably crashes its consumers, unless this process handed it back and survived. The
 * server counts deliberate retries in the same number, and an outage may cause any number of them.
 */
const killerDeliveries = 100;
/** A record of a newer release is left to a service of that release, which gets it at the next delivery. */
const newerDelayMs = 1_000;

export class DeliveryHandler {
  readonly #bus: Bus;
  readonly #options: ConsumeOptions;
  /** The records that this process has handed back. */
  readonly #returned: Generations<true>;
  readonly #signal: AbortSignal;

  constructor(bus: Bus, options: ConsumeOptions, returned: Generations<true>, signal: AbortSignal) {
    this.#bus = bus;
    this.#options = options;
    this.#returned = returned;
    this.#signal = signal;
  }

  async deliver(message: Msg): Promise<void> {
    const info = parseAckSubject(message.reply ?? "");
    if (info === null) return;
    const outcome = patient(await this.#decide(info, message), info.deliveries);
    if (outcome.kind === "retry") this.#returned.set(placeOf(info), true);
    const answer = ackVerb(outcome);
    const isSafe = answer.verb !== "term" || (await this.#bury(info, message, answer.deadLetter));
    const again = (): Outcome => ({
      kind: "retry",
      delayMs: backoffMs(info.deliveries, retryPolicy, Math.random()),
    });
    this.answer(message, isSafe ? answer.payload : ackVerb(again()).payload); // runtime/J4 runtime/J5
  }

  answer(message: Msg, verb: string): void {
    const { nc } = this.#bus;
    if (message.reply !== undefined && !nc.isClosed()) nc.publish(message.reply, verb);
  }

  async #decide(info: DeliveryInfo, message: Msg): Promise<Outcome> {
    if (this.#signal.aborted) return { kind: "retry", delayMs: 0 }; // Arrived after shutdown; return it.
    const { deliveries, seq, stream } = info;
    const header = headersOf(message);
    const stored = { subject: message.subject, seq, at: new Date(info.atMs), data: message.data, header };
    let at: At = { subject: message.subject, seq, deliveries };
    try {
      const record = this.#read(stored);
      if (record instanceof AntiphonError) return await this.#unreadable(stream, stored, record);
      const { runId: run, taskId: task, epoch, type } = record;
      at = { run, task, epoch, type, seq, deliveries };
      if (await this.#isKiller(info, record)) {
        this.#options.log.error(at, "record probably crashes its consumers; giving up");
        const detail = `delivered ${deliveries} times, never finished`;
        return { kind: "terminal", code: "ANT_TASK_POISON", detail }; // runtime/J5
      }
      const { doubt } = await judgeReport(this.#bus, stream, stored, record);
      if (doubt !== null) return this.#passOver(stored, doubt, stream);
      return await this.#handled({ record, deliveries, signal: this.#signal }, at);
    } catch (thrown) {
      return this.#failed(at, thrown);
    }
  }

  #read(stored: RecordMessage): StoredRecord | AntiphonError {
    try {
      return this.#bus.records.read(stored);
    } catch (error) {
      return AntiphonError.from(error, "ANT_JOURNAL_CORRUPT");
    }
  }

  async #isKiller(info: DeliveryInfo, record: StoredRecord): Promise<boolean> {
    const { killerAfter = killerDeliveries, isHeld } = this.#options;
    if (info.deliveries <= killerAfter || this.#returned.has(placeOf(info))) return false;
    return (await isHeld?.(record)) !== true;
  }

  /** A message that nobody who may write it wrote. */
  #passOver(stored: RecordMessage, why: string, stream: string): Outcome {
    this.#bus.forged.alarm(stored, why, stream); // runtime/J14
    return { kind: "done" };
  }

  async #unreadable(
    stream: string,
    stored: RecordMessage,
    { code, detail }: AntiphonError,
  ): Promise<Outcome> {
    const { log } = this.#options;
    const { subject, seq } = stored;
    if (code === "ANT_JOURNAL_NEWER") {
      log.warn({ subject, seq, code, delayMs: newerDelayMs }, "left to a newer service");
      return { kind: "retry", delayMs: newerDelayMs, code };
    }
    const why = await noise(this.#bus, stream, stored);
    if (why !== null) return this.#passOver(stored, why, stream);
    log.error({ subject, seq, code, detail }, "unreadable record");
    return { kind: "terminal", code, detail };
  }

  async #handled(delivery: Delivery, at: At): Promise<Outcome> {
    const outcome = await this.#traced(delivery);
    const { log } = this.#options;
    if (outcome.kind === "retry")
      log.info({ ...at, code: outcome.code, delayMs: outcome.delayMs }, "will retry");
    if (outcome.kind === "terminal")
      log.error({ ...at, code: outcome.code, detail: outcome.detail }, "terminal");
    return outcome;
  }

  /** The handler, as a span of the record's stage. */
  #traced(delivery: Delivery): Promise<Outcome> {
    const { tracer, records } = this.#bus;
    const { consumer } = this.#options;
    if (!tracer.isOn) return this.#options.handle(delivery);
    const { record, deliveries } = delivery;
    const attributes = {
      "messaging.system": "nats",
      "messaging.destination.name": record.subject,
      "antiphon.deliveries": deliveries,
    };
    const parent = records.traces.contextOf(record);
    return tracer.span(
      { name: `${consumer} ${record.type}`, kind: "consumer", parent, attributes },
      async (note) => {
        const outcome = await this.#options.handle(delivery);
        note({ "antiphon.outcome": outcome.kind });
        return outcome;
      },
    );
  }

  #failed(at: At, thrown: unknown): Outcome {
    const { log, poisonAfter = 10 } = this.#options;
    const error = AntiphonError.from(thrown);
    if (this.#signal.aborted) return { kind: "retry", delayMs: 0, code: error.code }; // stopping: hand it back
    const delayMs = backoffMs(at.deliveries - 1, retryPolicy, Math.random());
    // An unknown error is probably a bug that will not go away; a coded outage may last any time.
    const hopeless = error.disposition !== "retry" || error.code === "ANT_INTERNAL";
    if (hopeless && at.deliveries >= poisonAfter) {
      log.error({ ...at, err: thrown, code: error.code }, "handler keeps failing; giving up");
      return { kind: "terminal", code: error.code, detail: error.detail }; // runtime/J5
    }
    log.warn({ ...at, err: thrown, code: error.code, delayMs }, "handler failed; will retry");
    return { kind: "retry", delayMs, code: error.code };
  }

  /** Stores the dead letter. True: it is stored, by this call or an earlier one. */
  async #bury(info: DeliveryInfo, message: Msg, letter: { code: string; detail: string }): Promise<boolean> {
    const { stream, seq, deliveries } = info;
    const { consumer, log } = this.#options;
    const origin = { subject: message.subject, seq, stream };
    const stored = await storeLetter(this.#bus, {
      ...letter,
      consumer,
      deliveries,
      origin,
      data: message.data,
    });
    if (!stored) log.error(origin, "dead letter could not be stored");
    return stored;
  }
}

/** The fields of a log line. */
interface At {
  readonly deliveries: number;
  readonly [field: string]: unknown;
}

const placeOf = ({ stream, seq }: DeliveryInfo): string => `${stream} ${seq}`;

/** Delays a record longer the more often it came back, so that a long outage does not look like poison. */
function patient(outcome: Outcome, deliveries: number): Outcome {
  if (outcome.kind !== "retry") return outcome;
  const floorMs = deliveries < 6 ? 0 : backoffMs(deliveries - 6, retryPolicy, 1);
  return { ...outcome, delayMs: Math.max(outcome.delayMs, floorMs) };
}
