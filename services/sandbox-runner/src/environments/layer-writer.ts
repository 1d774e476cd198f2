/**
 * Writes a layer to a file of this machine while its content comes out of a sandbox. The content is read as the stream of
 * an untrusted program: entry by entry, by layer-rules.ts, within bounds.
 *
 * Lifecycle: for each top a `sink`, then `finish`. `drained` resolves when what was written so far is on its way to disk,
 * so that the sandbox waits for a slow disk.
 */
import { createHash } from "node:crypto";
import { createWriteStream, type WriteStream } from "node:fs";
import { finished } from "node:stream/promises";
import { Refusal } from "../workspace/refusal.ts";
import type { TarEntry, TarSink } from "../workspace/tar-reader.ts";
import { keptEntry, type LayerTop } from "./layer-rules.ts";
import { END_OF_TAR, entryHeader, padding } from "./tar-header.ts";

export interface LayerBounds {
  readonly maxBytes: number;
  readonly maxFiles: number;
}

export interface WrittenLayer {
  /** SHA-256 of the tar, in lower-case hex. */
  readonly sha256: string;
  readonly files: number;
  readonly bytes: number;
}

/** Most entries are small, so they are hashed and written together. */
const BLOCK_BYTES = 256 * 1024;

export class LayerWriter {
  readonly #out: WriteStream;
  readonly #done: Promise<void>;
  readonly #bounds: LayerBounds;
  readonly #hash = createHash("sha256");
  #block = Buffer.allocUnsafe(BLOCK_BYTES);
  #held = 0;
  /** Files that a hard link may name. */
  readonly #files = new Set<string>();
  #bytes = 0;

  constructor(path: string, bounds: LayerBounds) {
    this.#bounds = bounds;
    this.#out = createWriteStream(path, { flags: "wx", mode: 0o600 });
    this.#done = finished(this.#out);
    this.#done.catch(() => undefined); // `drained` and `finish` report it
    for (const top of ["workspace", "home"])
      this.#write(entryHeader({ path: top, type: "directory", mode: 0o755, size: 0, link: "", mtimeS: 0 }));
  }

  /** Takes one of the two directories. @param isTracked whether a path of the workspace belongs to the tree */
  sink(top: LayerTop, isTracked: (path: string) => boolean): TarSink {
    let open: number | null = null;
    return {
      entry: (entry: TarEntry): void => {
        const kept = keptEntry(top, entry, isTracked);
        open = null;
        if (kept === null) return;
        if (kept.type === "hardlink" && !this.#files.has(kept.link))
          throw new Refusal("type-hardlink", entry.path);
        if (kept.type === "file") {
          this.#files.add(kept.path);
          open = kept.size;
        }
        if (this.#files.size > this.#bounds.maxFiles) throw new Refusal("too-many-files", entry.path);
        if (this.#bytes + kept.size > this.#bounds.maxBytes) throw new Refusal("too-many-bytes", entry.path);
        this.#write(entryHeader(kept));
      },
      data: (piece: Buffer): void => {
        if (open !== null) this.#write(piece);
      },
      end: (): void => {
        if (open !== null) this.#write(padding(open));
        open = null;
      },
    };
  }

  /** Resolves when there is room for more. */
  async drained(): Promise<void> {
    if (this.#out.errored !== null) throw this.#out.errored;
    if (!this.#out.writableNeedDrain) return;
    const drained = new Promise<void>((resolve) => this.#out.once("drain", resolve));
    await Promise.race([drained, this.#done]);
  }

  async finish(): Promise<WrittenLayer> {
    this.#write(END_OF_TAR);
    this.#flush();
    this.#out.end();
    await this.#done;
    return { sha256: this.#hash.digest("hex"), files: this.#files.size, bytes: this.#bytes };
  }

  async abandon(): Promise<void> {
    this.#out.destroy();
    await this.#done.catch(() => undefined);
  }

  /** Copies the bytes, which belong to the caller. */
  #write(bytes: Buffer): void {
    this.#bytes += bytes.length;
    for (let at = 0; at < bytes.length;) {
      const copied = bytes.copy(this.#block, this.#held, at);
      at += copied;
      this.#held += copied;
      if (this.#held === BLOCK_BYTES) this.#flush();
    }
  }

  #flush(): void {
    const block = this.#block.subarray(0, this.#held);
    this.#hash.update(block);
    this.#out.write(block);
    this.#block = Buffer.allocUnsafe(BLOCK_BYTES);
    this.#held = 0;
  }
}
