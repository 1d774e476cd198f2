/** A record in its published form: its bytes, their digest, and headers that repeat the fields readers filter by. */
import type { NewRecord, StoredRecord } from "@antiphon/contracts";
import { HEADERS, MSGPACK, SIGNED_TYPES, digestOf, encode } from "@antiphon/contracts";
import { type HeaderLines, headerLines } from "../nats/wire-headers.ts";
import { signRecord, type SigningKey } from "../process/signing-key.ts";

type Envelope = Omit<StoredRecord, "seq" | "digest" | "at" | "subject" | "signature">;

export interface RecordMessage {
  readonly envelope: Envelope;
  readonly payload: Uint8Array;
  readonly digest: string;
  readonly headers: HeaderLines;
  readonly signature: string | null;
}

interface Wording {
  /** Signs the records of SIGNED_TYPES. */
  readonly key: SigningKey | null;
  /** Signs the results of this process's own attempts (reporters.ts). */
  readonly reporter?: SigningKey | null;
  readonly traceparent?: string | undefined;
}

export function messageOf(record: NewRecord, { key, reporter = null, traceparent }: Wording): RecordMessage {
  const envelope: Envelope = { v: 1, ...record };
  const payload = encode(envelope);
  const digest = digestOf(payload);
  const signer = SIGNED_TYPES.includes(record.type) ? key : isReport(record) ? reporter : null;
  const signature = signer === null ? null : signRecord(signer, digest);
  const headers = linesOf(record, digest, traceparent, signature);
  return { envelope, payload, digest, headers, signature };
}

const isReport = (record: NewRecord): boolean => record.type === "result" && record.body.kind !== "lapsed";

function linesOf(
  record: NewRecord,
  digest: string,
  traceparent: string | undefined,
  signature: string | null,
): HeaderLines {
  const fields: Record<string, string> = {
    [HEADERS.contentType]: MSGPACK,
    [HEADERS.schema]: `journal.${record.type}.v1`,
    [HEADERS.run]: record.runId,
    [HEADERS.task]: record.taskId ?? "-",
    [HEADERS.epoch]: String(record.epoch),
    [HEADERS.digest]: digest,
  };
  if (record.cause !== null) fields[HEADERS.cause] = `${record.cause.seq}:${record.cause.digest}`;
  if (traceparent !== undefined) fields[HEADERS.traceparent] = traceparent;
  if (signature !== null) fields[HEADERS.signature] = signature;
  return headerLines(fields);
}
