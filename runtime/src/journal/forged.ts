import type { JournalType } from "@antiphon/contracts";
import { HEADERS, SIGNED_TYPES, digestOf, parseJournalSubject } from "@antiphon/contracts";
import type { Bus } from "../nats/bus.ts";
import { Generations } from "../process/generations.ts";
import type { PublishResult } from "../publishing/publish-result.ts";
import type { StoredMessage } from "../nats/direct-answer.ts";
import type { Logger } from "../process/logger.ts";
import type { Outgoing } from "../publishing/publisher.ts";
import { firstPlace, forgedError } from "./record-reader.ts";
import { isReported, judgeReport, type FirstClaim, type Judgement } from "./reporters.ts";

/**
 * Decisions that no trusted Director signed, and reports of an attempt by others than its holder (reporters.ts); how readers
 * and writers of the journal pass over them.
 *
 * Anyone who may publish to NATS can write on the subject of a decision, before or after the Director does. The server
 * keeps both messages. The register of a decision is therefore the first message on its subject with a trusted
 * signature. A forged message stays in the stream as evidence, is logged once per process as an error, and is counted.
 *
 * Promises:
 *   runtime/J14 Because anyone who reaches NATS may write on the register of a record, what is no record there, or
 *     lacks its signature (a decision that of a pinned key, a report that of the key of its attempt's first claim), is
 *     never returned, hides no genuine record, and leaves the register free for it.
 */
export class ForgedDecisions {
  /** Exported as `antiphon_forged_decisions_total`. */
  total = 0;
  /** The claims that count, by result. */
  readonly claims = new Generations<FirstClaim>(10_000);
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
const EXPECTED_SEQUENCE = "Nats-Expected-Last-Subject-Sequence";

/** The genuine ones of a run's messages, together with those that forged ones hid, in stream order. */
export async function believedOf(
  bus: Bus,
  stream: string,
  messages: readonly StoredMessage[],
): Promise<StoredMessage[]> {
  const kept = new Map<number, StoredMessage>();
  const keep = (message: StoredMessage | null): unknown => message !== null && kept.set(message.seq, message);
  const hiding = new Set<string>();
  const judgements = await Promise.all(messages.map((message) => judge(bus, stream, message)));
  const claims = new Map(judgements.flatMap(({ claim }) => (claim === null ? [] : [[claim.subject, claim]])));
  for (const [i, message] of messages.entries()) {
    const { doubt = null, mayHide = false } = judgements[i] ?? {};
    if (doubt === null)
      keep(mayHide || isLater(message, claims) ? await standing(bus, stream, message) : message);
    else if (await isDamaged(bus, stream, message, messages))
      keep(message); // runtime/J14
    else {
      bus.forged.alarm(message, doubt, stream);
      hiding.add(message.subject);
    }
  }
  for (const { subject } of kept.values()) hiding.delete(subject);
  for (const subject of hiding) keep(await firstBelieved(bus, stream, subject));
  return [...kept.values()].sort((a, b) => a.seq - b.seq);
}

/**
 * Without the claims that were written over another one, for a reader that sees all messages of a register, and not only the
 * last. The server stored a message that expected an empty register only if it was one.
 */
export async function firstClaims(
  bus: Bus,
  stream: string,
  messages: readonly StoredMessage[],
): Promise<StoredMessage[]> {
  const isFirst = async (message: StoredMessage): Promise<boolean> =>
    !isOf(message, ["claim"]) ||
    message.header(EXPECTED_SEQUENCE) === "0" ||
    (await firstBelieved(bus, stream, message.subject))?.seq === message.seq;
  const first = await Promise.all(messages.map(isFirst));
  return messages.filter((_, at) => first[at]);
}

/** Whether a claim was written over the one that counts. */
function isLater(message: StoredMessage, claims: ReadonlyMap<string, FirstClaim>): boolean {
  const claim = claims.get(message.subject);
  return claim !== undefined && claim.seq !== message.seq && claim.digest !== digestOf(message.data);
}

/** The first message that counts on the register of one that counts as well (runtime/J14). */
async function standing(bus: Bus, stream: string, message: StoredMessage): Promise<StoredMessage> {
  const first = (await firstBelieved(bus, stream, message.subject)) ?? message;
  if (first.seq !== message.seq) bus.forged.alarm(message, "its register holds an earlier record", stream);
  return first;
}

/** The genuine message of one register, or null if it has none. */
export async function believedLast(bus: Bus, stream: string, subject: string): Promise<StoredMessage | null> {
  const message = await bus.reader.last(stream, subject);
  if (message === null) return null;
  const { doubt, mayHide } = await judge(bus, stream, message);
  if (doubt === null) return mayHide ? standing(bus, stream, message) : message;
  bus.forged.alarm(message, doubt, stream);
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
      const { doubt } = await judge(bus, stream, message);
      if (doubt === null) return 0;
      bus.forged.alarm(message, doubt, stream);
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
      const { doubt } = await judge(bus, stream, message);
      if (doubt === null) return message;
      bus.forged.alarm(message, doubt, stream);
    }
    const last = page.messages.at(-1);
    if (last === undefined || page.pending === 0) return null;
    seq = last.seq + 1;
  }
}

/**
 * Tells a genuine record whose payload was damaged from a forgery with copied headers: another record of the run names the
 * genuine one as its cause, by sequence and digest. The damaged one's signature vouches for that digest, or else the other
 * one has to be a Director's. A run with a damaged record cannot be read.
 */
async function isDamaged(
  bus: Bus,
  stream: string,
  message: StoredMessage,
  run: readonly StoredMessage[],
): Promise<boolean> {
  const claimed = message.header(HEADERS.digest);
  const place = firstPlace(message);
  if (claimed === "" || place === null) return false;
  const name = `${place.seq}:${claimed}`;
  const witnesses = run.filter((other) => other.header(HEADERS.cause) === name);
  if (witnesses.length === 0) return false;
  if (isOf(message, ASSOCIATES) && witnesses.some((other) => isDecision(bus, other))) return true;
  return wasSigned(bus, stream, message, claimed);
}

/** The types that Associates write. */
const ASSOCIATES: readonly JournalType[] = ["claim", "result"];

async function judge(bus: Bus, stream: string, message: StoredMessage): Promise<Judgement> {
  if (isOf(message, ASSOCIATES)) return judgeReport(bus, stream, message);
  return { doubt: bus.records.doubt(message), claim: null, mayHide: false };
}

/** Whether the signature of a message is right for the digest that it claims. */
async function wasSigned(bus: Bus, stream: string, message: StoredMessage, digest: string): Promise<boolean> {
  const signature = message.header(HEADERS.signature);
  if (signature === "") return false;
  if (isOf(message, ASSOCIATES)) return isReported(bus, stream, message, digest);
  return bus.records.doubtOf(signature, digest) === null;
}

const isDecision = (bus: Bus, message: StoredMessage): boolean =>
  isOf(message, SIGNED_TYPES) && bus.records.doubt(message) === null;

function isOf({ subject }: StoredMessage, types: readonly JournalType[]): boolean {
  const type = parseJournalSubject(subject)?.type;
  return type !== undefined && types.includes(type);
}
