/** An object bucket of the simulated world: shared bytes, read over the network of one process. */
import type { BlobRef } from "@antiphon/contracts";
import { AntiphonError, digestOf } from "@antiphon/contracts";
import type { Blobs } from "../../../runtime/src/index.ts";
import type { SimNode } from "../node.ts";

export type Objects = Map<string, Buffer>;

const LATENCY_MS = [0.5, 6] as const;

export class SimBlobs implements Blobs {
  readonly bucket: string;
  private readonly objects: Objects;
  private readonly node: SimNode;
  private readonly reachable: () => boolean;

  constructor(bucket: string, objects: Objects, node: SimNode, reachable: () => boolean) {
    this.bucket = bucket;
    this.objects = objects;
    this.node = node;
    this.reachable = reachable;
  }

  put(name: string | null, bytes: Uint8Array): Promise<BlobRef> {
    const digest = digestOf(bytes);
    const final = name ?? digest;
    return this.ask(() => {
      const existing = this.objects.get(final);
      if (existing !== undefined && digestOf(existing) !== digest) {
        throw new AntiphonError("ANT_BLOB_CONFLICT", `${final} already holds other bytes`);
      }
      if (existing === undefined) this.objects.set(final, Buffer.from(bytes));
      return { bucket: this.bucket, name: final, digest, bytes: bytes.length };
    });
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
    return this.ask(() => {
      const bytes = this.objects.get(name);
      if (bytes === undefined) throw new AntiphonError("ANT_BLOB_MISSING", `${name} is not there`);
      return bytes;
    });
  }

  async *stream(nameOrRef: string | BlobRef): AsyncGenerator<Buffer> {
    yield await this.get(nameOrRef);
  }

  has(name: string): Promise<boolean> {
    return this.ask(() => this.objects.has(name));
  }

  want(name: string): Promise<boolean> {
    return this.has(name);
  }

  remove(name: string): Promise<void> {
    return this.ask(() => void this.objects.delete(name));
  }

  private ask<T>(effect: () => T): Promise<T> {
    return this.node.ask(LATENCY_MS, () => {
      if (!this.reachable())
        throw new AntiphonError("ANT_NATS_UNREACHABLE", `${this.bucket} is out of reach`);
      return effect();
    });
  }
}
