import { HEADERS, SIGNED_TYPES, parseJournalSubject } from "@antiphon/contracts";
import type { Bus } from "../nats/bus.ts";
import { Generations } from "../process/generations.ts";
import type { PublishResult } from "../publishing/publish-result.ts";
import type { StoredMessage } from "../nats/direct-reader.ts";
import type { Logger } from "../process/logger.ts";
import type { Outgoing } from "../publishing/publisher.ts";
import { forgedError, placeOf } from "./record-reader.ts";

/**
 * Decisions that no trusted Director signed, and how readers and writers of the journal pass over them.
 *
 * Anyone who may publish to NATS can write on the subject of a decision, before or after the Director does. The server
 * keeps both messages. The register of a decision is therefore the first message on its subject with a trusted
 * signature. A forged message stays in the stream as evidence, is logged once per process as an error, and is counted.
 *
 * Promises:
 *   runtime/J14 Because anyone who may publish can write on the subject of a decision, a message there without a
 *     trusted signature is never returned as a record, hides no genuine one, and leaves the register free for it.
 */
export class ForgedDecisions {
  /** Exported as `antiphon_forged_decisions_total`. */
  total = 0;
  private readonly told = new Generations<true>(10_000);
  private readonly log: Logger | undefined;

  constructor(log?: Logger) {
    this.log = log;
  }

  /** Logs and counts a forged message once. `place`: the stream or object that holds it. */
  alarm(message: { subject: string; seq: number }, why: string, place: string): void {
    const key = `${place} ${message.seq} ${message.subject}`;
    if (this.told.has(key)) return;
    this.told.set(key, true);
    this.total += 1;
    const { code, remedy } = forgedError(message, why);
    const { runId: run, taskId: task, epoch } = parseJournalSubject(message.subject) ?? {};
    const { subject, seq } = message;
    this.log?.error({ code, subject, seq, run, task, epoch, place, reason: why, remedy }, "forged decision");
  }
}

const PAGE = 64;

/** The genuine ones of a run's messages, together with those that forged ones hid, in stream order. */
export async function believedOf(
  bus: Bus,
  stream: string,
  messages: readonly StoredMessage[],
): Promise<StoredMessage[]> {
  const kept: StoredMessage[] = [];
  const hiding = new Set<string>();
  for (const message of messages) {
    const why = bus.records.doubt(message);
    if (why === null || isDamaged(bus, message, messages))
      kept.push(message); // runtime/J14
    else {
      bus.forged.alarm(message, why, stream);
      hiding.add(message.subject);
    }
  }
  if (hiding.size === 0) return kept;
  for (const { subject } of kept) hiding.delete(subject);
  for (const subject of hiding) {
    const hidden = await firstBelieved(bus, stream, subject);
    if (hidden !== null) kept.push(hidden);
  }
  return kept.sort((a, b) => a.seq - b.seq);
}

/** The genuine message of one register, or null if it has none. */
export async function believedLast(bus: Bus, stream: string, subject: string): Promise<StoredMessage | null> {
  const message = await bus.reader.last(stream, subject);
  const why = message === null ? null : bus.records.doubt(message);
  if (message === null || why === null) return message;
  bus.forged.alarm(message, why, stream);
  return firstBelieved(bus, stream, subject);
}

/**
 * The sequence a writer must expect to append behind forged messages: that of the last message that matches, if all
 * those after `after` are forged. 0 if there are none, or if one of them is genuine.
 */
export async function forgedUpTo(bus: Bus, stream: string, filter: string, after = 0): Promise<number> {
  let last = 0;
  for (let seq = after + 1; ;) {
    const page = await bus.reader.next(stream, { filter, seq, batch: PAGE });
    for (const message of page.messages) {
      const why = isDecision(message.subject) ? bus.records.doubt(message) : null;
      if (why === null) return 0;
      bus.forged.alarm(message, why, stream);
      last = message.seq;
    }
    if (page.messages.length === 0 || page.pending === 0) return last;
    seq = last + 1;
  }
}

/** Publishes to a register that holds nothing, or only forged messages. */
export async function publishPastForged(bus: Bus, out: Outgoing): Promise<PublishResult> {
  const result = await bus.publish({ ...out, expectLastSubjectSequence: 0 });
  if (result.kind !== "failed" || result.refusal !== "expectation") return result;
  const expectLastSubjectSequence = await forgedUpTo(bus, out.stream, out.subject);
  return expectLastSubjectSequence === 0 ? result : bus.publish({ ...out, expectLastSubjectSequence }); // runtime/J14
}

async function firstBelieved(bus: Bus, stream: string, subject: string): Promise<StoredMessage | null> {
  for (let seq = 1; ;) {
    const page = await bus.reader.next(stream, { filter: subject, seq, batch: PAGE });
    for (const message of page.messages) {
      const why = bus.records.doubt(message);
      if (why === null) return message;
      bus.forged.alarm(message, why, stream);
    }
    const last = page.messages.at(-1);
    if (last === undefined || page.pending === 0) return null;
    seq = last.seq + 1;
  }
}

/**
 * Tells a genuine decision whose payload was damaged after signing from a forgery with copied headers: another record
 * of the run names the genuine one as its cause, by sequence and signed digest. A run with a damaged record cannot be
 * read.
 */
function isDamaged(bus: Bus, message: StoredMessage, run: readonly StoredMessage[]): boolean {
  const claimed = message.header(HEADERS.digest);
  if (claimed === "" || bus.records.doubtOf(message.header(HEADERS.signature), claimed) !== null)
    return false;
  const name = `${placeOf(message).seq}:${claimed}`;
  return run.some((other) => other.header(HEADERS.cause) === name);
}

const isDecision = (subject: string): boolean => {
  const type = parseJournalSubject(subject)?.type;
  return type !== undefined && SIGNED_TYPES.includes(type);
};
