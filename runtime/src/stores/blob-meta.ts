/** The meta message of a blob, which makes its chunks an object that others see, and says what a name means. */
import { AntiphonError, type BlobRef } from "@antiphon/contracts";
import { headerLines } from "../nats/wire-headers.ts";
import { late, signalOf } from "./blob-deadline.ts";
import type { Place } from "./blob-upload.ts";
import { digestFromMeta, metaSubject, parseMeta, type ObjectMeta } from "./object-layout.ts";

const ROLLUP = headerLines({ "Nats-Rollup": "sub" });

/** Null: nothing has this name. An object that a client of NATS deleted still has a meta message. */
export async function readMeta(
  { bus, stream, bucket }: Place,
  name: string,
  deadlineMs: number,
): Promise<(ObjectMeta & { seq: number }) | null> {
  const message = await bus.reader.last(stream, metaSubject(bucket, name), deadlineMs);
  if (message === null) return null;
  return { ...parseMeta(bucket, name, Buffer.from(message.data).toString("utf8")), seq: message.seq };
}

/** The object if it exists with this digest; null if the name is free. Throws if the name means other bytes. */
export function settled(
  bucket: string,
  meta: ObjectMeta | null,
  name: string,
  digest: string,
): BlobRef | null {
  if (meta === null || meta.deleted) return null;
  if (digestFromMeta(meta.digest) === digest) return { bucket, name, digest, bytes: meta.size };
  throw new AntiphonError("ANT_BLOB_CONFLICT", `${bucket}/${name} already holds other bytes`); // runtime/J9
}

/**
 * Writes the meta message again if it is older than `wantedMs`, so that the object counts as used now. A store without room
 * keeps the old one. False: there is no such object.
 */
export async function refreshed(
  { bus, stream, bucket }: Place,
  name: string,
  wantedMs: number,
): Promise<boolean> {
  const signal = signalOf({});
  const subject = metaSubject(bucket, name);
  for (;;) {
    const message = await bus.reader.last(stream, subject);
    if (message === null) return false;
    const { seq, at, data: payload } = message;
    if (parseMeta(bucket, name, Buffer.from(payload).toString("utf8")).deleted) return false;
    if (Date.now() - at.getTime() < wantedMs) return true;
    const again = { stream, subject, payload, headers: ROLLUP, group: false };
    const result = await bus.publish({ ...again, expectLastSubjectSequence: seq }, signal);
    if (result.kind === "ok") return true;
    if (result.kind === "unknown") throw late(bucket, name);
    if (result.refusal === "full") return true;
    if (result.refusal !== "expectation") throw new AntiphonError("ANT_NATS_REJECTED", result.description);
  }
}
