/** Reads the tar of a layer while it streams by, and refuses one that is malformed, too large, or holds more than files. */
import { AntiphonError, limits } from "@antiphon/contracts";
import { TarReader, type TarEntry, type TarSink } from "../workspace/tar-reader.ts";
import { Refusal } from "../workspace/refusal.ts";
import type { LayerName } from "./layer-store.ts";

export class LayerBounds implements TarSink {
  readonly #name: LayerName;
  readonly #reader = new TarReader(this);
  #bytes = 0;
  #entries = 0;

  constructor(name: LayerName) {
    this.#name = name;
  }

  push(piece: Buffer): void {
    this.#bytes += piece.length;
    if (this.#bytes > limits.layerTarBytes) throw this.#invalid(`it is over ${limits.layerTarBytes} bytes`);
    this.#named(() => this.#reader.push(piece));
  }

  /** The length of the tar, which was whole. */
  finish(): number {
    this.#named(() => this.#reader.finish());
    return this.#bytes;
  }

  entry(entry: TarEntry): void {
    this.#entries += 1;
    if (this.#entries > limits.layerEntries)
      throw this.#invalid(`it has over ${limits.layerEntries} entries`);
    if (entry.type === "character" || entry.type === "block" || entry.type === "fifo")
      throw this.#invalid(`${entry.path} is a ${entry.type === "fifo" ? "named pipe" : "device"}`);
  }

  data(): void {
    // The content is the sandbox's affair.
  }

  end(): void {
    // Likewise.
  }

  #named(work: () => void): void {
    try {
      work();
    } catch (error) {
      throw error instanceof Refusal ? this.#invalid(error.message) : error;
    }
  }

  #invalid(why: string): AntiphonError {
    return invalid(this.#name, why);
  }
}

export function invalid({ kind, digest }: LayerName, why: string): AntiphonError {
  return new AntiphonError("ANT_LAYER_INVALID", `${kind} ${digest.slice(0, 12)}: ${why}`);
}
