/**
 * Writes a blob once: first its chunks (blob-upload.ts), then by compare-and-set the meta message that makes it visible.
 *
 * Chunks of a failed write, and of one that lost a race, are purged by a writer that `mayPurge`, and stay unread otherwise. Such a
 * writer notes what it streams (upload-notes.ts), so that the chunks are also purged when it was killed.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { AntiphonError, type BlobRef } from "@antiphon/contracts";
import { noHeaders } from "../nats/wire-headers.ts";
import { uniqueId } from "../process/ids.ts";
import { deadlineOf, late, signalOf, type BlobOptions } from "./blob-deadline.ts";
import { readMeta, settled } from "./blob-meta.ts";
import { uploadChunks, uploadOne, type Place, type Upload } from "./blob-upload.ts";
import { chunkSubject, digestToMeta, metaDocument, metaSubject } from "./object-layout.ts";
import { UploadNotes } from "./upload-notes.ts";

export interface Content {
  /** A function gives the bytes of a source. */
  readonly bytes: Uint8Array | (() => AsyncIterable<Uint8Array>);
  /** Null: it is known only after the bytes. */
  readonly digest: string | null;
  /** The source may be read again after a lost connection. */
  readonly repeatable: boolean;
}

export class BlobWriter {
  readonly #place: Place;
  readonly #mayPurge: boolean;
  readonly #notes: UploadNotes;

  constructor(place: Place, mayPurge: boolean) {
    this.#place = place;
    this.#mayPurge = mayPurge;
    this.#notes = new UploadNotes(place.bus, place.bucket);
  }

  async write(name: string, { bytes, digest, repeatable }: Content, options: BlobOptions): Promise<BlobRef> {
    const { bucket } = this.#place;
    const signal = signalOf(options);
    if (digest !== null) {
      const there = settled(bucket, await readMeta(this.#place, name, deadlineOf(options)), name, digest);
      if (there !== null) return there;
    }
    const failed: string[] = [];
    const isNoted = digest === null && this.#mayPurge;
    try {
      for (let attempt = 0; ; attempt += 1) {
        const nuid = uniqueId();
        if (isNoted) await this.#notes.add(name, nuid, signal);
        const upload =
          typeof bytes === "function"
            ? await uploadChunks(this.#place, bytes(), signal, nuid).catch((thrown: unknown) => {
                failed.push(nuid);
                throw thrown;
              })
            : await uploadOne(this.#place, bytes, signal);
        if (upload.kind === "stored") {
          const stored = await this.#publishMeta(name, upload, signal, options);
          if (isNoted) await this.#dropNote(nuid);
          return stored;
        }
        failed.push(upload.nuid);
        if (upload.kind === "full") throw new AntiphonError("ANT_NATS_NO_SPACE", upload.reason);
        if (signal.aborted) throw late(bucket, name); // runtime/J9
        if (!repeatable) throw new AntiphonError("ANT_NATS_UNREACHABLE", `${bucket}: ${upload.reason}`);
        await sleep(Math.min(1000, 100 * 2 ** attempt));
      }
    } finally {
      // At the end, because during an outage a purge would only wait for its timeout.
      for (const nuid of failed) {
        const isGone = await this.purgeChunks(nuid);
        if (isNoted && isGone) await this.#dropNote(nuid);
      }
    }
  }

  /** False: they may still be there. */
  async purgeChunks(nuid: string): Promise<boolean> {
    if (!this.#mayPurge) return false;
    const { bus, stream, bucket } = this.#place;
    try {
      await bus.jsm.streams.purge(stream, { filter: chunkSubject(bucket, nuid) });
      return true;
    } catch {
      return false; // Unreferenced chunks waste space, but nobody can read them. Those that were noted are purged later.
    }
  }

  async #publishMeta(
    name: string,
    upload: Upload & { kind: "stored" },
    signal: AbortSignal,
    options: BlobOptions,
  ): Promise<BlobRef> {
    const { bus, stream, bucket } = this.#place;
    const { nuid, size, chunks, digest } = upload;
    const meta = { name, nuid, size, chunks, digest: digestToMeta(digest) };
    const own = { bucket, name, digest, bytes: size };
    const message = { stream, subject: metaSubject(bucket, name), headers: noHeaders };
    for (let previous = 0; ;) {
      const payload = Buffer.from(metaDocument(bucket, meta, new Date()));
      const result = await bus.publish(
        { ...message, payload, expectLastSubjectSequence: previous, group: previous === 0 }, // runtime/J9
        signal,
      );
      if (result.kind === "ok") return own;
      if (result.kind === "unknown") throw late(bucket, name);
      if (result.refusal === "full") throw new AntiphonError("ANT_NATS_NO_SPACE", result.description);
      const existing =
        result.refusal === "expectation" ? await readMeta(this.#place, name, deadlineOf(options)) : null;
      if (existing === null && result.refusal === "expectation") {
        previous = 0; // Another copy was removed in the meantime, so the name is free again.
        continue;
      }
      if (existing === null) throw new AntiphonError("ANT_NATS_REJECTED", result.description);
      if (existing.nuid === nuid) return own; // our own first attempt was stored
      if (existing.deleted && existing.seq !== previous) {
        previous = existing.seq; // An operator removed the object, so the name is free again.
        continue;
      }
      await this.purgeChunks(nuid); // Another writer's copy stands.
      const there = settled(bucket, existing, name, digest);
      if (there !== null) return there;
      throw new AntiphonError("ANT_NATS_REJECTED", result.description);
    }
  }

  async #dropNote(nuid: string): Promise<void> {
    try {
      await this.#notes.remove(nuid);
    } catch {
      return; // The upload has ended as it has; an hourly round finds the note, and what it says of the chunks is still true.
    }
  }
}
