/** Reads one of a layer's two directories as a tar of its own, with paths relative to that directory. */
import { TarReader, type TarEntry, type TarSink } from "../workspace/tar-reader.ts";
import type { LayerTop } from "./layer-rules.ts";
import { END_OF_TAR, entryHeader, padding } from "./tar-header.ts";

export async function* subArchive(layer: AsyncIterable<Buffer>, top: LayerTop): AsyncGenerator<Buffer> {
  const sink = new SubSink(`${top}/`);
  const reader = new TarReader(sink);
  for await (const piece of layer) {
    reader.push(piece);
    const bytes = sink.taken();
    if (bytes.length > 0) yield bytes;
  }
  reader.finish();
  yield Buffer.concat([sink.taken(), END_OF_TAR]);
}

class SubSink implements TarSink {
  readonly #prefix: string;
  #pieces: Buffer[] = [];
  #open: number | null = null;

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  entry({ path, type, mode, size, link, mtimeS }: TarEntry): void {
    this.#open = null;
    const name = path.slice(this.#prefix.length).replace(/\/$/, "");
    if (!path.startsWith(this.#prefix) || name === "") return;
    if (type !== "file" && type !== "directory" && type !== "symlink" && type !== "hardlink") return;
    const target = type === "hardlink" ? link.slice(this.#prefix.length) : link;
    this.#pieces.push(entryHeader({ path: name, type, mode, size, link: target, mtimeS }));
    if (type === "file") this.#open = size;
  }

  data(piece: Buffer): void {
    if (this.#open !== null) this.#pieces.push(piece); // It is copied by `taken`, before the next piece is read.
  }

  end(): void {
    if (this.#open !== null) this.#pieces.push(padding(this.#open));
    this.#open = null;
  }

  taken(): Buffer {
    const bytes = Buffer.concat(this.#pieces);
    this.#pieces = [];
    return bytes;
  }
}
