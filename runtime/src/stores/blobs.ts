/**
 * Blobs: content-addressed bytes in a standard NATS object store bucket.
 *
 * An object is written once (blob-writer.ts) and read without a consumer (blob-read.ts). Links are never followed.
 *
 * Promises:
 *   runtime/J9 Because records name objects by digest, a name means the same bytes for ever: storing the same bytes again
 *     does nothing and other bytes are refused; a read returns bytes with the stored digest or throws; and every call
 *     ends within its deadline, even if chunks are gone.
 */
import { LRUCache } from "lru-cache";
import { digestOf, limits, type BlobRef } from "@antiphon/contracts";
import type { Bus } from "../nats/bus.ts";
import type { BlobOptions } from "./blob-deadline.ts";
import { readMeta, refreshed } from "./blob-meta.ts";
import { readBlob } from "./blob-read.ts";
import { pieces, type Place } from "./blob-upload.ts";
import { BlobWriter } from "./blob-writer.ts";
import { chunkBytes, metaSubject } from "./object-layout.ts";

export type BlobSource = Buffer | Uint8Array;

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

/** Well below limits.repoKeepMs. */
const WANTED_MS = 60_000;
const RECENT = 512;
/** An object that an operator or an archive removes is soon stored again. */
const RECENT_MS = 30_000;

export function openBlobs(bus: Bus, bucket: string, options: BlobsOptions = {}): Blobs {
  return new ObjectStoreBlobs(bus, bucket, options);
}

class ObjectStoreBlobs implements Blobs {
  readonly bucket: string;
  readonly #place: Place;
  readonly #writer: BlobWriter;
  readonly #wantedMs: number;
  /** Digests by name. Successive attempts put the same small files again and again; this saves a request for each. */
  readonly #recent = new LRUCache<string, string>({ max: RECENT, ttl: RECENT_MS });

  constructor(bus: Bus, bucket: string, { mayPurge = false, wantedMs = WANTED_MS }: BlobsOptions) {
    this.bucket = bucket;
    this.#place = { bus, stream: `OBJ_${bucket}`, bucket };
    this.#writer = new BlobWriter(this.#place, mayPurge);
    this.#wantedMs = wantedMs;
  }

  async put(name: string | null, bytes: BlobSource, options: BlobOptions = {}): Promise<BlobRef> {
    const digest = digestOf(bytes);
    const key = name ?? digest;
    if (this.#recent.get(key) === digest)
      return { bucket: this.bucket, name: key, digest, bytes: bytes.length };
    const isOne = bytes.length > 0 && bytes.length <= chunkBytes;
    const content = { bytes: isOne ? bytes : () => pieces(bytes), digest, repeatable: true };
    const stored = await this.#writer.write(key, content, options);
    this.#recent.set(key, digest);
    return stored;
  }

  putStream(
    name: string,
    source: AsyncIterable<Uint8Array> | (() => AsyncIterable<Uint8Array>),
    options: BlobOptions = {},
  ): Promise<BlobRef> {
    const repeatable = typeof source === "function";
    const bytes = repeatable ? source : () => source;
    return this.#writer.write(name, { bytes, digest: null, repeatable }, options);
  }

  async get(nameOrRef: string | BlobRef, options: BlobOptions = {}): Promise<Buffer> {
    const parts: Buffer[] = [];
    for await (const part of this.stream(nameOrRef, options)) parts.push(part);
    return Buffer.concat(parts);
  }

  stream(nameOrRef: string | BlobRef, options: BlobOptions = {}): AsyncGenerator<Buffer> {
    return readBlob(this.#place, nameOrRef, options);
  }

  async has(name: string): Promise<boolean> {
    const meta = await readMeta(this.#place, name, limits.blobDeadlineMs);
    return meta === null || meta.deleted ? this.#gone(name) : true;
  }

  /** Somebody else removed it, so the next `put` stores it. */
  #gone(name: string): false {
    this.#recent.delete(name);
    return false;
  }

  async want(name: string): Promise<boolean> {
    return (await refreshed(this.#place, name, this.#wantedMs)) || this.#gone(name);
  }

  async remove(name: string): Promise<void> {
    this.#recent.delete(name);
    const { bus, stream, bucket } = this.#place;
    const meta = await readMeta(this.#place, name, limits.blobDeadlineMs);
    if (meta === null) return;
    // The meta message first: an object without it does not exist, whatever becomes of its chunks.
    await bus.jsm.streams.purge(stream, { filter: metaSubject(bucket, name) });
    if (!meta.deleted) await this.#writer.purgeChunks(meta.nuid);
  }
}
