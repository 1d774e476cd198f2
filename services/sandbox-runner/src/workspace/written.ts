/**
 * What commands did to the files of a workspace, as the sealed supervisor reports it. It compares with what it remembered
 * in its own memory, which no command can read or change.
 */
import { ByteQueue } from "../conversation/byte-queue.ts";
import { Refusal } from "./refusal.ts";

export interface Written {
  /** New files and directories, which end with a slash. Of a new directory, only the names directly in it. */
  readonly made: readonly string[];
  /** Files that are different or missing. */
  readonly changed: readonly string[];
  /** Files that were written and are as before. */
  readonly restored: readonly string[];
  /** Files that were opened and not written. Empty on a file system that does not keep the time of the last read. */
  readonly read: readonly string[];
}

/** A workspace has an inode limit; a report of more is none that our supervisor makes. */
const MOST_BYTES = 64 * 1024 * 1024;
const SIGNS = { "+": "made", "!": "changed", "-": "changed", "~": "restored", "?": "read" } as const;

/** Reads records of a sign and a path, each ended by a NUL, from a stream. */
export class WrittenReader {
  readonly #found = { made: [], changed: [], restored: [], read: [] } as Record<keyof Written, string[]>;
  readonly #tail = new ByteQueue();
  #bytes = 0;
  #complete = false;

  push(piece: Buffer): void {
    this.#bytes += piece.length;
    if (this.#bytes > MOST_BYTES) throw new Refusal("too-many-entries", `${MOST_BYTES} bytes of names`);
    this.#tail.push(piece);
    if (!piece.includes(0)) return;
    const bytes = this.#tail.joined();
    let at = 0;
    for (let end = bytes.indexOf(0); end >= 0; end = bytes.indexOf(0, at)) {
      this.#record(bytes.toString("utf8", at, end));
      at = end + 1;
    }
    this.#tail.keep(bytes.subarray(at));
  }

  /** Null if the list is not complete. */
  result(): Written | null {
    return this.#complete ? this.#found : null;
  }

  #record(record: string): void {
    if (record === ".") {
      this.#complete = true;
      return;
    }
    const kind = SIGNS[record.charAt(0) as keyof typeof SIGNS];
    this.#found[kind].push(record.slice(1));
  }
}
