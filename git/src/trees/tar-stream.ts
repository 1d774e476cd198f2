/** The archives of tar.ts as streams: the same entries, refused for the same reasons, with one piece in memory at a time. */
import { PieceReader } from "../process/piece-reader.ts";
import { TAR_BLOCK, TarFault, type TarEntry, type TarLimits } from "./tar.ts";
import { paxRecords, readEntry, readHead } from "./tar-reader.ts";
import { tarPadding } from "./tar-writer.ts";

export interface StreamedEntry extends Omit<TarEntry, "content" | "timeS"> {
  /** Of the content. */
  size: number;
  /** The content, which has to be read before the next entry is asked for. */
  pieces: AsyncIterable<Buffer> | Iterable<Buffer>;
}

/** Of a long name and a long target. */
const MAX_PAX_BYTES = 64 * 1024;

/**
 * Reads a tar of any length as `readTar` does. The source is read to its end, so that a source which knows its digest only then
 * can refuse it. The entries that came before are not to be used if a later one throws.
 */
export async function* streamedTar(
  source: AsyncIterable<Uint8Array>,
  limits: TarLimits,
): AsyncGenerator<StreamedEntry> {
  const reader = new PieceReader(source, () => new TarFault("the archive has no end"));
  try {
    yield* entriesOf(reader, limits);
    await reader.finish();
  } finally {
    await reader.close();
  }
}

async function* entriesOf(reader: PieceReader, limits: TarLimits): AsyncGenerator<StreamedEntry> {
  const seen = new Set<string>();
  let bytes = 0;
  let pax: ReadonlyMap<string, Buffer> = new Map();
  for (;;) {
    const head = readHead(await reader.take(TAR_BLOCK));
    if (head === null) return;
    const { type, size } = head;
    if (type === "x") {
      if (size > MAX_PAX_BYTES) throw new TarFault(`a pax record of ${size} bytes`);
      pax = paxRecords(await reader.take(size));
      await reader.take(tarPadding(size).length);
      continue;
    }
    const entry = readEntry(head, pax);
    pax = new Map();
    if (entry === null) continue;
    const { path, mode, content } = entry;
    if (seen.has(path)) throw new TarFault(`${path} is there twice`);
    seen.add(path);
    const length = content?.length ?? size;
    bytes += length;
    if (seen.size > limits.maxFiles) throw new TarFault(`more than ${limits.maxFiles} files`);
    if (bytes > limits.maxBytes) throw new TarFault(`more than ${limits.maxBytes} bytes`);
    yield { path, mode, size: length, pieces: content === null ? reader.pieces(size) : [content] };
    await reader.take(tarPadding(size).length);
  }
}
