/**
 * A pack: the archived records of some finished runs, as an object in `ANT_ARCHIVE`. The object is this document as
 * MessagePack, compressed with gzip, under the name of its content:
 *
 *   nats object get ANT_ARCHIVE sha256-... -O - | gunzip | antiphon decode
 *
 * A record is kept as the server had it: subject, sequence, time to the nanosecond, all headers, the payload's bytes.
 *
 * Invariants:
 *  K1 What was packed comes out again, byte by byte; what is no pack is ANT_ARCHIVE_CORRUPT.
 *  K2 A run's entry has one digest, whatever it is packed with.
 */
import { decode, digestOf, encode } from "../wire/codec.ts";
import { AntiphonError } from "../errors.ts";

export type ArchivedMessage = {
  subject: string;
  /** Stream sequence it had. */
  seq: number;
  /** The server's time, as it writes it: RFC 3339 with nanoseconds. */
  at: string;
  headers: Record<string, string>;
  data: Uint8Array;
};

export type ArchivedRun = { runId: string; records: ArchivedMessage[] };

const VERSION = 1;

export function encodePack(runs: readonly ArchivedRun[]): Uint8Array {
  return encode({ v: VERSION, runs });
}

/** The runs of a pack's bytes, uncompressed. Throws ANT_ARCHIVE_CORRUPT (K1). */
export function decodePack(bytes: Uint8Array): ArchivedRun[] {
  let pack: unknown;
  try {
    pack = decode(bytes);
  } catch (error) {
    throw new AntiphonError("ANT_ARCHIVE_CORRUPT", "the pack cannot be decoded", { cause: error });
  }
  if (isObject(pack) && pack["v"] === VERSION && Array.isArray(pack["runs"]) && pack["runs"].every(isRun)) {
    return pack["runs"];
  }
  throw new AntiphonError("ANT_ARCHIVE_CORRUPT", `not a pack of version ${VERSION}`);
}

/** K2 */
export function archivedRunDigest(run: ArchivedRun): string {
  return digestOf(encode(run));
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function isRun(value: unknown): value is ArchivedRun {
  return (
    isObject(value) &&
    typeof value["runId"] === "string" &&
    Array.isArray(value["records"]) &&
    value["records"].every(isMessage)
  );
}

function isMessage(value: unknown): value is ArchivedMessage {
  if (!isObject(value) || !isObject(value["headers"])) return false;
  return (
    typeof value["subject"] === "string" &&
    Number.isSafeInteger(value["seq"]) &&
    typeof value["at"] === "string" &&
    value["data"] instanceof Uint8Array &&
    Object.values(value["headers"]).every((header) => typeof header === "string")
  );
}
