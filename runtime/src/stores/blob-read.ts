/** Reads a blob by batched direct get, without a consumer. It returns bytes with the stored digest, or throws. */
import { createHash } from "node:crypto";
import { AntiphonError, type BlobRef } from "@antiphon/contracts";
import { deadlineOf, late, signalOf, type BlobOptions } from "./blob-deadline.ts";
import { readMeta } from "./blob-meta.ts";
import type { Place } from "./blob-upload.ts";
import { chunkSubject, digestFromMeta } from "./object-layout.ts";

const BATCH = { batch: 128, maxBytes: 8 * 1024 * 1024 };

/** The digest is known only at the end: a corrupt object throws after its last chunk. */
export async function* readBlob(
  place: Place,
  nameOrRef: string | BlobRef,
  options: BlobOptions,
): AsyncGenerator<Buffer> {
  const { bus, stream, bucket } = place;
  const name = typeof nameOrRef === "string" ? nameOrRef : nameOrRef.name;
  const signal = signalOf(options);
  const meta = await readMeta(place, name, deadlineOf(options));
  if (meta === null || meta.deleted) {
    throw new AntiphonError("ANT_BLOB_MISSING", `${bucket}/${name} does not exist`);
  }
  const expected = digestFromMeta(meta.digest);
  if (typeof nameOrRef !== "string" && nameOrRef.digest !== expected) {
    throw corrupt(bucket, name, "its digest differs from the reference"); // runtime/J9
  }
  const hash = createHash("sha256");
  let size = 0;
  for (let seq = 1; size < meta.size;) {
    if (signal.aborted) throw late(bucket, name); // runtime/J9
    const query = { filter: chunkSubject(bucket, meta.nuid), seq, ...BATCH };
    const page = await bus.reader.next(stream, query, deadlineOf(options));
    const last = page.messages.at(-1);
    if (last === undefined) {
      const detail = `${bucket}/${name}: only ${size} of ${meta.size} bytes exist`;
      throw new AntiphonError("ANT_BLOB_MISSING", detail);
    }
    seq = last.seq + 1;
    for (const message of page.messages) {
      size += message.data.length;
      hash.update(message.data);
      yield Buffer.from(message.data.buffer, message.data.byteOffset, message.data.byteLength);
    }
  }
  const actual = `sha256-${hash.digest("base64url")}`;
  if (actual !== expected || size !== meta.size) {
    throw corrupt(bucket, name, `digest is ${actual}, not ${expected}`); // runtime/J9
  }
}

function corrupt(bucket: string, name: string, detail: string): AntiphonError {
  return new AntiphonError("ANT_BLOB_CORRUPT", `${bucket}/${name}: ${detail}`);
}
