import type { NewRecord } from "@antiphon/contracts";
import { AntiphonError, HEADERS, digestOf, subjects } from "@antiphon/contracts";
import type { Bus } from "../nats/bus.ts";
import { believedLast, publishPastForged } from "./forged.ts";
import { messageOf } from "./record-message.ts";
import { journalStreamOf } from "./run-messages.ts";
import type { SigningKey } from "../process/signing-key.ts";

/**
 * Puts one record that the journal lost back where it stood. Its bytes were derived from what is left; that they are
 * the lost ones is shown by the digest under which another record names it.
 *
 * Invariants:
 *   M1 Nothing is put back whose bytes have another digest than the one that is named.
 *   M2 A register that holds anything is left as it is.
 */
export interface LostRecord {
  readonly record: NewRecord;
  /** Where it stood. */
  readonly seq: number;
  /** Its own time is lost with it: the time of the record that names it, which came after. */
  readonly at: Date;
  /** By which another record names it. */
  readonly digest: string;
}

/** False: it is there (again). `key` signs it as the decision that was taken. */
export async function putBackLost(bus: Bus, key: SigningKey, lost: LostRecord): Promise<boolean> {
  const { record, seq, at, digest } = lost;
  const subject = subjects.journal(record, bus.partitions);
  const message = messageOf(record, { key });
  if (message.digest !== digest) {
    const detail = `${subject}: what was derived is ${message.digest}, what was lost is ${digest}`;
    throw new AntiphonError("ANT_JOURNAL_GAP", detail); // M1
  }
  const stream = journalStreamOf(bus, record.runId);
  const headers = { ...message.headers, [HEADERS.restored]: `${seq}:${at.toISOString()}` };
  const result = await publishPastForged(bus, {
    stream,
    subject,
    payload: message.payload,
    headers,
    group: true,
  }); // M2
  if (result.kind === "ok") return true;
  if (result.kind === "unknown") throw new AntiphonError("ANT_NATS_UNREACHABLE", result.reason);
  if (result.refusal === "full") throw new AntiphonError("ANT_NATS_NO_SPACE", result.description);
  const there = await believedLast(bus, stream, subject);
  if (there !== null && digestOf(there.data) === digest) return false;
  throw new AntiphonError("ANT_JOURNAL_CONFLICT", `${subject} refuses the record that was lost from it`);
}
