import type { NewRecord } from "@antiphon/contracts";
import { AntiphonError, HEADERS, digestOf, subjects } from "@antiphon/contracts";
import type { Bus } from "../nats/bus.ts";
import { headerLines, joined } from "../nats/wire-headers.ts";
import { believedLast, publishPastForged } from "./forged.ts";
import { messageOf } from "./record-message.ts";
import { journalStreamOf } from "./run-messages.ts";
import type { SigningKey } from "../process/signing-key.ts";

/**
 * Puts one lost record back into the journal. Its bytes were derived from the remaining records. They are stored only
 * if they have the digest under which another record names the lost one, and only into a register that is empty.
 */
export interface LostRecord {
  readonly record: NewRecord;
  /** Its first sequence. */
  readonly seq: number;
  /** Its own time is lost too; this is the time of the later record that names it. */
  readonly at: Date;
  /** The digest under which another record names it. */
  readonly digest: string;
}

/** False: the record is there already. `key` signs it as the decision it was. */
export async function putBackLost(bus: Bus, key: SigningKey, lost: LostRecord): Promise<boolean> {
  const { record, seq, at, digest } = lost;
  const subject = subjects.journal(record, bus.partitions);
  const message = messageOf(record, { key });
  if (message.digest !== digest) {
    const detail = `${subject}: the derived record has digest ${message.digest}, the lost one ${digest}`;
    throw new AntiphonError("ANT_JOURNAL_GAP", detail);
  }
  const stream = journalStreamOf(bus, record.runId);
  const place = headerLines({ [HEADERS.restored]: `${seq}:${at.toISOString()}` });
  const result = await publishPastForged(bus, {
    stream,
    subject,
    payload: message.payload,
    headers: joined(message.headers, place),
    group: true,
  });
  if (result.kind === "ok") return true;
  if (result.kind === "unknown") throw new AntiphonError("ANT_NATS_UNREACHABLE", result.reason);
  if (result.refusal === "full") throw new AntiphonError("ANT_NATS_NO_SPACE", result.description);
  const there = await believedLast(bus, stream, subject);
  if (there !== null && digestOf(there.data) === digest) return false;
  throw new AntiphonError("ANT_JOURNAL_CONFLICT", `${subject} refuses its lost record`);
}
