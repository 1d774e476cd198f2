import type { DirectorKey, JournalAddress } from "@antiphon/contracts";
import { HEADERS, decode, digestOf, parseJournalSubject, subjects } from "@antiphon/contracts";
import type { Bus } from "../nats/bus.ts";
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
  readonly seq: number;
  readonly digest: string;
  /** Its sequence before it was archived; null if it was not. */
  readonly place: number | null;
  readonly key: DirectorKey | null;
}

type Judged = Pick<RecordMessage, "subject" | "seq" | "at" | "data" | "header">;

/** Why a result does not count; null if it does, or if the message is no result. `digest`: that of its payload, if known. */
export async function reportDoubt(
  bus: Bus,
  stream: string,
  message: Judged,
  digest?: string,
): Promise<string | null> {
  const address = parseJournalSubject(message.subject);
  if (address?.type !== "result") return null;
  const claim = await firstClaim(bus, stream, address);
  if (claim === null || claim.key === null || isBefore(message, claim)) return null;
  const signature = message.header(HEADERS.signature);
  const why = bus.records.reportDoubt(claim.key, signature, digest ?? digestOf(message.data)); // runtime/J15
  return why === null || isLapse(message.data) ? null : why;
}

/** Whether a message that counts may hide an earlier one on its register: a later claim, or a result without the holder's signature. */
export function mayHide(bus: Bus, message: Judged): boolean {
  const { claims } = bus.forged;
  const address = parseJournalSubject(message.subject);
  if (address?.type === "claim") {
    const first = claims.get(message.subject);
    return first !== undefined && first.seq !== message.seq && first.digest !== digestOf(message.data);
  }
  if (address?.type !== "result") return false;
  const key = claims.get(claimSubject(bus, address))?.key ?? null;
  if (key === null) return false;
  return bus.records.reportDoubt(key, message.header(HEADERS.signature), digestOf(message.data)) !== null;
}

const claimSubject = (bus: Bus, result: JournalAddress): string =>
  subjects.journal({ ...result, type: "claim" }, bus.partitions);

async function firstClaim(bus: Bus, stream: string, result: JournalAddress): Promise<FirstClaim | null> {
  const subject = claimSubject(bus, result);
  const known = bus.forged.claims.get(subject);
  if (known !== undefined) return known;
  const { messages } = await bus.reader.next(stream, { filter: subject, seq: 1, batch: 1 });
  const [message] = messages;
  if (message === undefined) return null;
  const record = bus.records.read(message);
  const { seq } = message;
  const key = record.type === "claim" ? (record.body.reporter ?? null) : null;
  const place = message.header(HEADERS.restored) === "" ? null : record.seq;
  const first = { seq, digest: record.digest, place, key };
  bus.forged.claims.set(subject, first);
  return first;
}

/** A restore puts a run's records back in another order. Only then the first place counts, which its writer states. */
const isBefore = (message: Judged, { seq, place }: FirstClaim): boolean =>
  place === null ? message.seq < seq : placeOf(message).seq < place;

function isLapse(data: Uint8Array): boolean {
  try {
    const record = decode(data) as { body?: { kind?: unknown } } | null;
    return record?.body?.kind === "lapsed";
  } catch {
    return false; // Nobody signed it, and it is no lapse.
  }
}
