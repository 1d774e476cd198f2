import type { DirectorKey, JournalAddress } from "@antiphon/contracts";
import { HEADERS, decode, digestOf, parseJournalSubject, subjects } from "@antiphon/contracts";
import type { Bus } from "../nats/bus.ts";
import type { StoredMessage } from "../nats/direct-reader.ts";
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
 * claim names no key (an older Associate wrote it), counts as it is.
 *
 * Promises:
 *   runtime/J15 Because all Associates may write on every result's register, a report of an attempt whose first claim names
 *     a key counts only under that key's signature; any other one is treated like a forged decision (runtime/J14).
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

/** Judges a result, and nothing else. `digest`: that of its payload, if known. */
export async function judgeReport(
  bus: Bus,
  stream: string,
  message: Judged,
  digest?: string,
): Promise<Judgement> {
  const address = parseJournalSubject(message.subject);
  if (address?.type !== "result") return UNJUDGED;
  const claim = await firstClaim(bus, stream, message, address);
  if (claim === null || claim.key === null) return { ...UNJUDGED, claim };
  const signature = message.header(HEADERS.signature);
  const why = bus.records.reportDoubt(claim.key, signature, digest ?? digestOf(message.data)); // runtime/J15
  if (why === null) return { ...UNJUDGED, claim };
  const counts = isBefore(message, claim) || isLapse(message.data);
  return { doubt: counts ? null : why, claim, mayHide: counts };
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
  const filter = subjects.journal({ ...address, type: "claim" }, bus.partitions);
  const { messages } = await bus.reader.next(stream, { filter, seq: 1, batch: 1 });
  const [first] = messages;
  if (first === undefined) return null;
  const claim = claimOf(bus, first);
  bus.forged.claims.set(key, claim);
  return claim;
}

function claimOf(bus: Bus, message: StoredMessage): FirstClaim {
  const { subject, seq } = message;
  const record = bus.records.read(message);
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
