import type { DirectorKey, JournalAddress, StoredRecord } from "@antiphon/contracts";
import { HEADERS, decode, digestOf, parseJournalSubject, subjects } from "@antiphon/contracts";
import type { Bus } from "../nats/bus.ts";
import type { StoredMessage } from "../nats/direct-answer.ts";
import { placeOf, type RecordMessage } from "./record-reader.ts";

/**
 * Who may report an attempt: the Associate that claimed it.
 *
 * All Associates share a NATS user, so the server lets each of them write on the register of every claim and result. A claim
 * therefore names the public half of a key that its process made at its start, and the attempt's result bears that key's
 * signature. The first claim counts: reads return the last message of a register, so the first one is asked for, once per
 * attempt and process.
 *
 * A `lapsed` result is written by others by design and is not signed; it hides no earlier result. A result that was stored before the claim, or whose
 * claim names no key (an older Associate wrote it), counts as it is. A message on these registers that is no record at all
 * counts for nothing, so that it cannot make a run unreadable. A record that was damaged on disk looks the same unless its
 * holder or a Director signed for it; without it the attempt is made again.
 *
 * Because all Associates may write on every register of a claim or a result, a message there that is no record, and a
 * report of an attempt whose first claim names a key without that key's signature, are treated like a forged decision
 * (runtime/J14).
 */
export interface FirstClaim {
  readonly subject: string;
  readonly seq: number;
  readonly digest: string;
  /** Its sequence before it was archived; null if it was not. */
  readonly place: number | null;
  readonly key: DirectorKey | null;
}

export interface Judgement {
  /** Why the message does not count; null if it does. */
  readonly doubt: string | null;
  /** The claim that counts, if the message is a result. */
  readonly claim: FirstClaim | null;
  /** The message is a result that counts without the holder's signature, so an earlier one on its register may count before it. */
  readonly mayHide: boolean;
}

type Judged = Pick<RecordMessage, "subject" | "seq" | "at" | "data" | "header">;

const UNJUDGED: Judgement = { doubt: null, claim: null, mayHide: false };

/** Enough for the first claim of nearly every attempt; others have noise before it. */
const PAGE = 64;

/** Judges a claim or a result, and nothing else. `record`: what was read of the message, if it was read before. */
export async function judgeReport(
  bus: Bus,
  stream: string,
  message: Judged,
  record: StoredRecord | null = null,
): Promise<Judgement> {
  const address = record ?? parseJournalSubject(message.subject);
  if (address?.type !== "result" && address?.type !== "claim") return UNJUDGED;
  const unfit = record === null ? bus.records.misfit(message) : null;
  if (address.type === "claim") return unfit === null ? UNJUDGED : { ...UNJUDGED, doubt: unfit };
  const claim = await firstClaim(bus, stream, message, address);
  if (unfit !== null || claim === null || claim.key === null) return { ...UNJUDGED, doubt: unfit, claim };
  const why = signatureDoubt(bus, claim.key, message, record?.digest ?? digestOf(message.data)); // runtime/J14
  if (why === null) return { ...UNJUDGED, claim };
  const counts = isBefore(message, claim) || isLapse(message.data);
  return { doubt: counts ? null : why, claim, mayHide: counts };
}

/**
 * Why a message that cannot be read is noise on the register of a claim or a result; null if it may be a damaged record: it
 * is on another register, or the attempt's holder signed what it was.
 */
export async function noise(bus: Bus, stream: string, message: Judged): Promise<string | null> {
  const { doubt } = await judgeReport(bus, stream, message);
  if (doubt === null || (await isReported(bus, stream, message, message.header(HEADERS.digest)))) return null;
  return doubt;
}

/** Whether the attempt's holder signed a result of this digest. */
export async function isReported(
  bus: Bus,
  stream: string,
  message: Judged,
  digest: string,
): Promise<boolean> {
  const address = parseJournalSubject(message.subject);
  if (address?.type !== "result") return false;
  const claim = await firstClaim(bus, stream, message, address);
  return claim !== null && claim.key !== null && signatureDoubt(bus, claim.key, message, digest) === null;
}

function signatureDoubt(bus: Bus, key: DirectorKey, { header }: Judged, digest: string): string | null {
  return bus.records.reportDoubt(key, header(HEADERS.signature), digest);
}

/** Remembered for each result: after an archiver's purge and a restore another message may be the first one. */
async function firstClaim(
  bus: Bus,
  stream: string,
  message: Judged,
  address: JournalAddress,
): Promise<FirstClaim | null> {
  const key = `${message.seq} ${message.subject}`;
  const known = bus.forged.claims.get(key);
  if (known !== undefined) return known;
  const { runId, taskId, epoch } = address;
  const filter = subjects.journal({ type: "claim", runId, taskId, epoch }, bus.partitions);
  const claim = await firstFitting(bus, stream, filter);
  if (claim !== null) bus.forged.claims.set(key, claim);
  return claim;
}

async function firstFitting(bus: Bus, stream: string, filter: string): Promise<FirstClaim | null> {
  for (let seq = 1, batch = 1; ; batch = PAGE) {
    const { messages, pending } = await bus.reader.next(stream, { filter, seq, batch });
    for (const message of messages) {
      const fit = bus.records.fitting(message);
      if (typeof fit !== "string") return claimOf(message, fit);
      bus.forged.alarm(message, fit, stream);
    }
    const last = messages.at(-1);
    if (last === undefined || pending === 0) return null;
    seq = last.seq + 1;
  }
}

function claimOf(message: StoredMessage, record: StoredRecord): FirstClaim {
  const { subject, seq } = message;
  const key = record.type === "claim" ? (record.body.reporter ?? null) : null;
  const place = message.header(HEADERS.restored) === "" ? null : record.seq;
  return { subject, seq, digest: record.digest, place, key };
}

/** A restore puts a run's records back in another order. Only then the first place counts, which its writer states. */
const isBefore = (message: Judged, { seq, place }: FirstClaim): boolean =>
  place === null ? message.seq < seq : placeOf(message).seq < place;

function isLapse(data: Uint8Array): boolean {
  try {
    const record = decode(data) as { body?: { kind?: unknown } } | null;
    return record?.body?.kind === "lapsed";
  } catch {
    return false; // It has no signature, and only a lapse may have none.
  }
}
