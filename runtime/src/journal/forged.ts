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
 * Anybody who may publish to NATS can write on the subject of a decision: before the Director does, or over what it
 * said. The server keeps both. So the register of a decision is the first message on its subject that is believed; what
 * is not believed stays where it is, as evidence, and decides nothing.
 *
 * Invariants:
 *   FD1 No message that is not believed is handed out as a record.
 *   FD2 It hides no record that is: a believed message under it is found, and its register is still free if there is none.
 *   FD3 Each is told once a process, at level error, with subject, sequence and reason, and is counted.
 */
export class ForgedDecisions {
  /** So many of them, for `antiphon_forged_decisions_total`. */
  total = 0;
  private readonly told = new Generations<true>(10_000);
  private readonly log: Logger | undefined;

  constructor(log?: Logger) {
    this.log = log;
  }

  /** FD3. `place`: the stream or the object it was found in. */
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

/** Of messages of one run: those that are believed, with what the others hid (FD1, FD2). In stream order. */
export async function believedOf(
  bus: Bus,
  stream: string,
  messages: readonly StoredMessage[],
): Promise<StoredMessage[]> {
  const kept: StoredMessage[] = [];
  const hiding = new Set<string>();
  for (const message of messages) {
    const why = bus.records.doubt(message);
    if (why === null || isDamaged(bus, message, messages)) kept.push(message);
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

/** One register; null: nothing on its subject is believed. */
export async function believedLast(bus: Bus, stream: string, subject: string): Promise<StoredMessage | null> {
  const message = await bus.reader.last(stream, subject);
  const why = message === null ? null : bus.records.doubt(message);
  if (message === null || why === null) return message;
  bus.forged.alarm(message, why, stream);
  return firstBelieved(bus, stream, subject);
}

/**
 * Where a writer has to append to get past what is not believed: the sequence of the last message that matches, if none
 * of those after `after` is believed. 0: there is none, or one is.
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

/** Into a register that holds nothing that is believed (FD2). */
export async function publishPastForged(bus: Bus, out: Outgoing): Promise<PublishResult> {
  const result = await bus.publish({ ...out, expectLastSubjectSequence: 0 });
  if (result.kind !== "failed" || result.refusal !== "expectation") return result;
  const expectLastSubjectSequence = await forgedUpTo(bus, out.stream, out.subject);
  return expectLastSubjectSequence === 0 ? result : bus.publish({ ...out, expectLastSubjectSequence });
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
 * A decision whose payload was damaged after it was signed, and no forgery under borrowed headers: another record of the
 * run names it as its cause, by its own sequence and the digest that was signed. Its run cannot be read (J9).
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
