import type { BlobRef } from "@antiphon/contracts";
import { AntiphonError, digestOf } from "@antiphon/contracts";
import type { Blobs } from "../stores/blobs.ts";

/** An object bucket in memory; conformance.ts holds it to the behaviour of the real one. */
export class MemoryBlobs implements Blobs {
  readonly bucket: string;
  private readonly objects = new Map<string, Buffer>();

  constructor(bucket = "MEMORY") {
    this.bucket = bucket;
  }

  put(name: string | null, bytes: Uint8Array): Promise<BlobRef> {
    const digest = digestOf(bytes);
    const final = name ?? digest;
    const existing = this.objects.get(final);
    if (existing !== undefined && digestOf(existing) !== digest) {
      return Promise.reject(
        new AntiphonError("ANT_BLOB_CONFLICT", `${this.bucket}/${final} already holds other bytes`),
      );
    }
    if (existing === undefined) this.objects.set(final, Buffer.from(bytes));
    return Promise.resolve({ bucket: this.bucket, name: final, digest, bytes: bytes.length });
  }

  async putStream(
    name: string,
    source: AsyncIterable<Uint8Array> | (() => AsyncIterable<Uint8Array>),
  ): Promise<BlobRef> {
    const parts: Uint8Array[] = [];
    for await (const part of typeof source === "function" ? source() : source) parts.push(part);
    return this.put(name, Buffer.concat(parts));
  }

  get(nameOrRef: string | BlobRef): Promise<Buffer> {
    const name = typeof nameOrRef === "string" ? nameOrRef : nameOrRef.name;
    const bytes = this.objects.get(name);
    if (bytes === undefined) {
      return Promise.reject(new AntiphonError("ANT_BLOB_MISSING", `${this.bucket}/${name} does not exist`));
    }
    if (typeof nameOrRef !== "string" && nameOrRef.digest !== digestOf(bytes)) {
      return Promise.reject(
        new AntiphonError(
          "ANT_BLOB_CORRUPT",
          `${this.bucket}/${name} has a digest that differs from the reference`,
        ),
      );
    }
    return Promise.resolve(Buffer.from(bytes));
  }

  async *stream(nameOrRef: string | BlobRef): AsyncGenerator<Buffer> {
    yield await this.get(nameOrRef);
  }

  has(name: string): Promise<boolean> {
    return Promise.resolve(this.objects.has(name));
  }

  want(name: string): Promise<boolean> {
    return this.has(name);
  }

  remove(name: string): Promise<void> {
    this.objects.delete(name);
    return Promise.resolve();
  }
}
