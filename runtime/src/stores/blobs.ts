import { LRUCache } from "lru-cache";
import { createHash } from "node:crypto";
import { setMaxListeners } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { BlobRef } from "@antiphon/contracts";
import { AntiphonError, digestOf, limits } from "@antiphon/contracts";
import { pieces, uploadChunks, uploadOne, windowChunks, type Upload } from "./blob-upload.ts";
import type { Bus } from "../nats/bus.ts";
import { deadlineSignal } from "../process/deadline-signal.ts";
import { uniqueId } from "../process/ids.ts";
import { headerLines, noHeaders } from "../nats/wire-headers.ts";
import { UploadNotes } from "./upload-notes.ts";
import type { ObjectMeta } from "./object-layout.ts";
import {
  chunkBytes,
  chunkSubject,
  digestFromMeta,
  digestToMeta,
  metaDocument,
  metaSubject,
  parseMeta,
} from "./object-layout.ts";

/**
 * Blobs: content-addressed bytes in a standard NATS object store bucket.
 *
 * An object is written once: first its chunks (pipelined), then by compare-and-set the meta message that makes it
 * visible. It is read by batched direct get, without a consumer. Links are never followed. Chunks of a failed write, and of
 * one that lost a race, are purged by a writer that `mayPurge`, and stay unread otherwise. Such a writer notes what it streams
 * (upload-notes.ts), so that the chunks are also purged when it was killed.
 *
 * Promises:
 *   runtime/J9 Because records name objects by digest, a name means the same bytes for ever: storing the same bytes again
 *     does nothing and other bytes are refused; a read returns bytes with the stored digest or throws; and every call
 *     ends within its deadline, even if chunks are gone.
 */
export type BlobSource = Buffer | Uint8Array;

export interface BlobOptions {
  signal?: AbortSignal;
  /** Default limits.blobDeadlineMs. */
  deadlineMs?: number;
}

export interface Blobs {
  readonly bucket: string;
  /** `name` null: the object is named after its content, `sha256-<base64url>`. */
  put(name: string | null, bytes: BlobSource, options?: BlobOptions): Promise<BlobRef>;
  /**
   * Writes the bytes of a source, holding only a few chunks at a time. After a lost connection a function is called
   * again; a plain iterable cannot be repeated, so the write fails with ANT_NATS_UNREACHABLE.
   */
  putStream(
    name: string,
    source: AsyncIterable<Uint8Array> | (() => AsyncIterable<Uint8Array>),
    options?: BlobOptions,
  ): Promise<BlobRef>;
  get(nameOrRef: string | BlobRef, options?: BlobOptions): Promise<Buffer>;
  /** Like `get`, chunk by chunk. The digest is known only at the end: a corrupt object throws after its last chunk. */
  stream(nameOrRef: string | BlobRef, options?: BlobOptions): AsyncIterable<Buffer>;
  has(name: string): Promise<boolean>;
  /**
   * Like `has`, for a caller that needs the object soon: one that exists counts as used now, and is therefore spared by what
   * keeps the bucket within its bound (blob-bound.ts). Needs the permission to write.
   */
  want(name: string): Promise<boolean>;
  /**
   * Removes an object and frees its name; a reader that is under way ends with ANT_BLOB_MISSING. Needs the permission to
   * purge the bucket.
   */
  remove(name: string): Promise<void>;
}

export interface BlobsOptions {
  /** Whether this process has the NATS permission to purge the bucket: Directors do. Default false. */
  mayPurge?: boolean;
  /** An object that was wanted so recently is not noted again. Default one minute. */
  wantedMs?: number;
}

const ROLLUP = headerLines({ "Nats-Rollup": "sub" });
/** Well below limits.repoKeepMs. */
const WANTED_MS = 60_000;
const RECENT = 512;
/** An object that an operator or an archive removes is soon stored again. */
const RECENT_MS = 30_000;
const readBatch = { batch: 128, maxBytes: 8 * 1024 * 1024 };

export function openBlobs(bus: Bus, bucket: string, options: BlobsOptions = {}): Blobs {
  return new ObjectStoreBlobs(bus, bucket, options);
}

class ObjectStoreBlobs implements Blobs {
  readonly bucket: string;
  private readonly bus: Bus;
  private readonly streamName: string;
  private readonly mayPurge: boolean;
  private readonly wantedMs: number;
  private readonly notes: UploadNotes;
  /** Digests by name. Successive attempts put the same small files again and again; this saves a request for each. */
  private readonly recent = new LRUCache<string, string>({ max: RECENT, ttl: RECENT_MS });

  constructor(bus: Bus, bucket: string, options: BlobsOptions) {
    this.bus = bus;
    this.bucket = bucket;
    this.mayPurge = options.mayPurge ?? false;
    this.wantedMs = options.wantedMs ?? WANTED_MS;
    this.notes = new UploadNotes(bus, bucket);
    this.streamName = `OBJ_${bucket}`;
  }

  async put(name: string | null, bytes: BlobSource, options: BlobOptions = {}): Promise<BlobRef> {
    const digest = digestOf(bytes);
    const key = name ?? digest;
    if (this.recent.get(key) === digest)
      return { bucket: this.bucket, name: key, digest, bytes: bytes.length };
    const one = bytes.length > 0 && bytes.length <= chunkBytes ? bytes : null;
    const stored = await this.write(key, digest, one ?? (() => pieces(bytes)), true, options);
    this.recent.set(key, digest);
    return stored;
  }

  putStream(
    name: string,
    source: AsyncIterable<Uint8Array> | (() => AsyncIterable<Uint8Array>),
    options: BlobOptions = {},
  ): Promise<BlobRef> {
    const repeatable = typeof source === "function";
    return this.write(name, null, repeatable ? source : () => source, repeatable, options);
  }

  async get(nameOrRef: string | BlobRef, options: BlobOptions = {}): Promise<Buffer> {
    const parts: Buffer[] = [];
    for await (const part of this.stream(nameOrRef, options)) parts.push(part);
    return Buffer.concat(parts);
  }

  async has(name: string): Promise<boolean> {
    const meta = await this.readMeta(name, limits.blobDeadlineMs);
    return meta === null || meta.deleted ? this.gone(name) : true;
  }

  /** Somebody else removed it, so the next `put` stores it. */
  private gone(name: string): false {
    this.recent.delete(name);
    return false;
  }

  async want(name: string): Promise<boolean> {
    const signal = signalOf({});
    const subject = metaSubject(this.bucket, name);
    for (;;) {
      const message = await this.bus.reader.last(this.streamName, subject);
      if (message === null) return this.gone(name);
      const { seq, at, data: payload } = message;
      if (parseMeta(this.bucket, name, Buffer.from(payload).toString("utf8")).deleted) return this.gone(name);
      if (Date.now() - at.getTime() < this.wantedMs) return true;
      const again = { stream: this.streamName, subject, payload, headers: ROLLUP, group: false };
      const result = await this.bus.publish({ ...again, expectLastSubjectSequence: seq }, signal);
      if (result.kind === "ok") return true;
      if (result.kind === "unknown") throw late(this.bucket, name);
      if (result.refusal === "full") return true;
      if (result.refusal !== "expectation") throw new AntiphonError("ANT_NATS_REJECTED", result.description);
    }
  }

  async remove(name: string): Promise<void> {
    this.recent.delete(name);
    const meta = await this.readMeta(name, limits.blobDeadlineMs);
    if (meta === null) return;
    // The meta message first: an object without it does not exist, whatever becomes of its chunks.
    await this.bus.jsm.streams.purge(this.streamName, { filter: metaSubject(this.bucket, name) });
    if (!meta.deleted) await this.purgeChunks(meta.nuid);
  }

  async *stream(nameOrRef: string | BlobRef, options: BlobOptions = {}): AsyncGenerator<Buffer> {
    const name = typeof nameOrRef === "string" ? nameOrRef : nameOrRef.name;
    const signal = signalOf(options);
    const meta = await this.readMeta(name, deadlineOf(options));
    if (meta === null || meta.deleted) {
      throw new AntiphonError("ANT_BLOB_MISSING", `${this.bucket}/${name} does not exist`);
    }
    const expected = digestFromMeta(meta.digest);
    if (typeof nameOrRef !== "string" && nameOrRef.digest !== expected) {
      throw this.corrupt(name, "its digest differs from the reference"); // runtime/J9
    }
    const hash = createHash("sha256");
    let size = 0;
    for (let seq = 1; size < meta.size;) {
      if (signal.aborted) throw late(this.bucket, name); // runtime/J9
      const query = { filter: chunkSubject(this.bucket, meta.nuid), seq, ...readBatch };
      const page = await this.bus.reader.next(this.streamName, query, deadlineOf(options));
      const last = page.messages.at(-1);
      if (last === undefined) {
        const detail = `${this.bucket}/${name}: only ${size} of ${meta.size} bytes exist`;
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
      throw this.corrupt(name, `digest is ${actual}, not ${expected}`); // runtime/J9
    }
  }

  private async write(
    name: string | null,
    knownDigest: string | null,
    content: Uint8Array | (() => AsyncIterable<Uint8Array>),
    repeatable: boolean,
    options: BlobOptions,
  ): Promise<BlobRef> {
    const signal = signalOf(options);
    if (name !== null && knownDigest !== null) {
      const there = this.settled(await this.readMeta(name, deadlineOf(options)), name, knownDigest);
      if (there !== null) return there;
    }
    const place = { bus: this.bus, stream: this.streamName, bucket: this.bucket };
    const failed: string[] = [];
    const isNoted = name !== null && knownDigest === null && this.mayPurge;
    try {
      for (let attempt = 0; ; attempt += 1) {
        const nuid = uniqueId();
        if (isNoted) await this.notes.add(name, nuid, signal);
        const upload =
          typeof content === "function"
            ? await uploadChunks(place, content(), signal, nuid).catch((thrown: unknown) => {
                failed.push(nuid);
                throw thrown;
              })
            : await uploadOne(place, content, signal);
        if (upload.kind === "stored") {
          const stored = await this.publishMeta(name ?? upload.digest, upload, signal, options);
          if (isNoted) await this.dropNote(nuid);
          return stored;
        }
        failed.push(upload.nuid);
        if (upload.kind === "full") throw new AntiphonError("ANT_NATS_NO_SPACE", upload.reason);
        if (signal.aborted) throw late(this.bucket, name ?? "(unnamed)"); // runtime/J9
        if (!repeatable) throw new AntiphonError("ANT_NATS_UNREACHABLE", `${this.bucket}: ${upload.reason}`);
        await sleep(Math.min(1000, 100 * 2 ** attempt));
      }
    } finally {
      // At the end, because during an outage a purge would only wait for its timeout.
      for (const nuid of failed) {
        const isGone = await this.purgeChunks(nuid);
        if (isNoted && isGone) await this.dropNote(nuid);
      }
    }
  }

  private async publishMeta(
    name: string,
    upload: Upload & { kind: "stored" },
    signal: AbortSignal,
    options: BlobOptions,
  ): Promise<BlobRef> {
    const { nuid, size, chunks, digest } = upload;
    const meta = { name, nuid, size, chunks, digest: digestToMeta(digest) };
    const own = { bucket: this.bucket, name, digest, bytes: size };
    for (let previous = 0; ;) {
      const result = await this.bus.publish(
        {
          stream: this.streamName,
          subject: metaSubject(this.bucket, name),
          payload: Buffer.from(metaDocument(this.bucket, meta, new Date())),
          headers: noHeaders,
          expectLastSubjectSequence: previous, // runtime/J9
          group: previous === 0,
        },
        signal,
      );
      if (result.kind === "ok") return own;
      if (result.kind === "unknown") throw late(this.bucket, name);
      if (result.refusal === "full") throw new AntiphonError("ANT_NATS_NO_SPACE", result.description);
      const existing =
        result.refusal === "expectation" ? await this.readMeta(name, deadlineOf(options)) : null;
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
      const there = this.settled(existing, name, digest);
      if (there !== null) return there;
      throw new AntiphonError("ANT_NATS_REJECTED", result.description);
    }
  }

  private async readMeta(name: string, deadlineMs: number): Promise<(ObjectMeta & { seq: number }) | null> {
    const message = await this.bus.reader.last(this.streamName, metaSubject(this.bucket, name), deadlineMs);
    if (message === null) return null;
    const text = Buffer.from(message.data).toString("utf8");
    return { ...parseMeta(this.bucket, name, text), seq: message.seq };
  }

  /** The object if it exists with this digest; null if the name is free. Throws if the name means other bytes. */
  private settled(meta: ObjectMeta | null, name: string, digest: string): BlobRef | null {
    if (meta === null || meta.deleted) return null;
    if (digestFromMeta(meta.digest) === digest)
      return { bucket: this.bucket, name, digest, bytes: meta.size };
    throw new AntiphonError("ANT_BLOB_CONFLICT", `${this.bucket}/${name} already holds other bytes`); // runtime/J9
  }

  /** False: they may still be there. */
  private async purgeChunks(nuid: string): Promise<boolean> {
    if (!this.mayPurge) return false;
    try {
      await this.bus.jsm.streams.purge(this.streamName, { filter: chunkSubject(this.bucket, nuid) });
      return true;
    } catch {
      return false; // Unreferenced chunks waste space, but nobody can read them. Those that were noted are purged later.
    }
  }

  private async dropNote(nuid: string): Promise<void> {
    try {
      await this.notes.remove(nuid);
    } catch {
      return; // The upload has ended as it has; an hourly round finds the note, and what it says of the chunks is still true.
    }
  }

  private corrupt(name: string, detail: string): AntiphonError {
    return new AntiphonError("ANT_BLOB_CORRUPT", `${this.bucket}/${name}: ${detail}`);
  }
}

const deadlineOf = (options: BlobOptions): number => options.deadlineMs ?? limits.blobDeadlineMs;

function signalOf(options: BlobOptions): AbortSignal {
  const signal = deadlineSignal(deadlineOf(options), options.signal);
  setMaxListeners(2 * windowChunks, signal); // one listener per chunk in flight is not a leak
  return signal;
}

function late(bucket: string, name: string): AntiphonError {
  return new AntiphonError("ANT_BLOB_DEADLINE", `${bucket}/${name}: not done in time`);
}
