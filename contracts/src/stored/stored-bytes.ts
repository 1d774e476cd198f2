/**
 * Reads a stored message as a journal record, or says what is wrong with it: digest, subject, encoding, envelope, shape.
 * Separate from the reader of the services, which remembers earlier records; a checker remembers nothing.
 */
import { decode, digestOf } from "../wire/codec.ts";
import { HEADERS } from "../wire/headers.ts";
import type { StoredRecord } from "../journal/record.ts";
import { isRecordAt, parseJournalSubject } from "../topology/subjects.ts";
import { validateShape } from "../validation/validate.ts";

export interface StoredBytes {
  readonly subject: string;
  readonly seq: number;
  readonly at: Date;
  readonly data: Uint8Array;
  /** Returns an empty string for an absent header. */
  header(name: string): string;
}

export type Reading =
  | { readonly kind: "record"; readonly record: StoredRecord }
  | { readonly kind: "corrupt"; readonly digest: string; readonly problem: string };

/** Reads tolerantly: unknown fields of newer writers pass. */
export function readStored(message: StoredBytes): Reading {
  const { subject, seq, at, data } = message;
  const digest = digestOf(data);
  const corrupt = (problem: string): Reading => ({ kind: "corrupt", digest, problem });
  const claimed = message.header(HEADERS.digest);
  if (claimed !== "" && claimed !== digest) return corrupt("payload does not match its digest");
  const address = parseJournalSubject(subject);
  if (address === null) return corrupt("not a journal subject");
  let record: StoredRecord;
  try {
    record = decode(data) as StoredRecord;
  } catch (error) {
    return corrupt(`payload cannot be decoded: ${String(error)}`);
  }
  if (record === null || typeof record !== "object" || !isRecordAt(record, address)) {
    return corrupt("envelope does not match its subject");
  }
  const outcome = validateShape(`journal.${address.type}`, record, "tolerant");
  if (!outcome.ok) {
    const [first] = outcome.errors;
    return corrupt(`not a ${address.type} record: ${first?.path ?? ""} ${first?.message ?? "invalid"}`);
  }
  const signature = message.header(HEADERS.signature);
  const stored = { ...record, seq, digest, at, subject, ...(signature === "" ? {} : { signature }) };
  return { kind: "record", record: stored };
}
