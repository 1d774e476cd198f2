/**
 * Layers on this machine's disk and in the object store. A layer that was made here is kept here, so that the first job
 * does not fetch it; any other is fetched once, checked against its digest, and kept by size.
 */
import { createReadStream } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { limits, type BlobRef } from "@antiphon/contracts";
import { allDone, uniqueId, type Blobs } from "@antiphon/runtime";
import { TreeArchive } from "../workspace/tree-archive.ts";
import type { LayerContent } from "./laying.ts";
import type { WrittenLayer } from "./layer-writer.ts";

/** A layer of limits.environmentBytes, at the speed of a slow disk. */
const TRANSFER_MS = 600_000;
const IN_WORKSPACE = "workspace/";

export class LayerArchive {
  readonly #directory: string;
  readonly #blobs: Blobs;
  readonly #archive: TreeArchive;
  /** Files that were just written here, by layer name. */
  readonly #fresh = new Map<string, string>();

  constructor(directory: string, blobs: Blobs, maxBytes: number) {
    this.#directory = directory;
    this.#blobs = blobs;
    const stream = (name: string): AsyncIterable<Buffer> => {
      const path = this.#fresh.get(name);
      return path === undefined
        ? blobs.stream(namedLayer(blobs.bucket, name), { deadlineMs: TRANSFER_MS })
        : (createReadStream(path) as AsyncIterable<Buffer>);
    };
    this.#archive = new TreeArchive(directory, { stream }, maxBytes);
  }

  /** The path of a file that a layer may be written to. */
  async newFile(key: string): Promise<string> {
    await mkdir(this.#directory, { recursive: true });
    return join(this.#directory, `.new-${key.slice(0, 16)}-${uniqueId()}`);
  }

  /** Removes what killed processes left, and the layers beyond the bound. */
  sweep(): Promise<void> {
    return this.#archive.sweep();
  }

  /** Puts a written file into the object store, and a copy of it among the kept layers. */
  async store(path: string, { sha256, bytes }: WrittenLayer): Promise<BlobRef> {
    const ref = layerRef(this.#blobs.bucket, sha256, bytes);
    const bytesOf = () => createReadStream(path) as AsyncIterable<Buffer>;
    this.#fresh.set(ref.name, path);
    try {
      await allDone([
        this.#blobs.putStream(ref.name, bytesOf, { deadlineMs: TRANSFER_MS }),
        this.#archive.open(ref.name),
      ]);
    } finally {
      this.#fresh.delete(ref.name);
    }
    return ref;
  }

  /** The reference of a layer that was stored before. */
  refOf({ sha256, bytes }: Pick<WrittenLayer, "sha256" | "bytes">): BlobRef {
    return layerRef(this.#blobs.bucket, sha256, bytes);
  }

  /** @throws AntiphonError ANT_BLOB_MISSING, ANT_BLOB_CORRUPT when neither this machine nor the store has it */
  async open(ref: BlobRef): Promise<LayerContent> {
    const tree = await this.#archive.open(ref.name);
    const paths = [...tree.baseline.keys()];
    const inWorkspace = paths.filter((path) => path.startsWith(IN_WORKSPACE));
    return {
      digest: ref.name.slice("env-".length, -".tar".length),
      bytes: ref.bytes,
      files: paths.length,
      workspacePaths: new Set(inWorkspace.map((path) => path.slice(IN_WORKSPACE.length))),
      tar: () => tree.tar(),
      drop: () => tree.drop(),
    };
  }
}

/** The reference of a layer: its name and its digest both come from its bytes. */
export function layerRef(bucket: string, sha256: string, bytes: number): BlobRef {
  const digest = `sha256-${Buffer.from(sha256, "hex").toString("base64url")}`;
  return { bucket, name: `env-${sha256}.tar`, digest, bytes };
}

/** The reference that a name stands for: bytes with another digest are refused while they are read. */
function namedLayer(bucket: string, name: string): BlobRef {
  return layerRef(bucket, name.slice("env-".length, -".tar".length), 0);
}

/** Most bytes of layers that one runner keeps. */
export const KEPT_LAYER_BYTES: number = limits.environmentStoreBytes;
