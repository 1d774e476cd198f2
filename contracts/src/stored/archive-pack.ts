/**
 * A pack: the archived records of some finished runs, as an object in `ANT_ARCHIVE`. The object is this document as
 * MessagePack, compressed with gzip, under the name of its content:
 *
 *   nats object get ANT_ARCHIVE sha256-... -O - | gunzip | antiphon decode
 *
 * A record is kept as the server had it: subject, sequence, time to the nanosecond, all headers, the payload's bytes. It
 * comes out byte by byte as it went in; anything that is not a pack is ANT_ARCHIVE_CORRUPT. The digest of a run's entry
 * does not depend on the other runs of the pack.
 */
import { decode, digestOf, encode } from "../wire/codec.ts";
import { AntiphonError } from "../errors.ts";

export type ArchivedMessage = {
  subject: string;
  /** Original stream sequence. */
  seq: number;
  /** The server's time in its own format: RFC 3339 with nanoseconds. */
  at: string;
  headers: Record<string, string>;
  data: Uint8Array;
};

export type ArchivedRun = { runId: string; records: ArchivedMessage[] };

const VERSION = 1;

export function encodePack(runs: readonly ArchivedRun[]): Uint8Array {
  return encode({ v: VERSION, runs });
}

/** The runs of an uncompressed pack. Throws ANT_ARCHIVE_CORRUPT. */
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
