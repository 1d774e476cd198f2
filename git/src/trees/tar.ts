/**
 * The canonical tar of a tree: ustar, uncompressed, entries in git's order, one owner, one time. The same tree gives the
 * same bytes everywhere. Names or link targets too long for a ustar header get a pax record.
 *
 * A gitlink (submodule) is written as an empty directory, like in a checkout, with `gitlink:<id>` as its link name.
 * Extractors ignore that field of a directory, and the tree can be rebuilt from it.
 *
 * tar-writer.ts writes it, tar-reader.ts and tar-stream.ts read it.
 */
import { AntiphonError } from "@antiphon/contracts";

export const TAR_BLOCK = 512;

/**
 * The time of every file, in seconds: 2000-01-01. It is not zero because zip archives, and so Python's wheels, cannot
 * hold a time before 1980.
 */
export const FILE_TIME_S = 946_684_800;

export interface TarEntry {
  path: string;
  /**
   * Git's octal text: 100644, 100755, 120000 (content is the target), 160000 (content is the commit id); for archives
   * that are no tree also 100444 and 40000 (a directory).
   */
  mode: string;
  content: Buffer;
  /** Modification time in seconds; default FILE_TIME_S. */
  timeS?: number;
}

export interface TarLimits {
  maxFiles: number;
  maxBytes: number;
}

/** A fault of an archive. Archives come out of sandboxes, unless the caller knows better. */
export class TarFault extends AntiphonError {
  constructor(detail: string) {
    super("ANT_SANDBOX_OUTPUT", detail);
  }
}

/** The content of a link or a gitlink is in its header. */
export function hasTarget(mode: string): boolean {
  return mode === "120000" || mode === "160000";
}

/**
 * The sum of the bytes of a header. Uses an index loop because it covers every byte of every header, and an iterator takes five times
 * as long.
 */
export function sumOf(block: Buffer): number {
  let sum = 0;
  for (let at = 0; at < TAR_BLOCK; at += 1) sum += block[at] as number;
  return sum;
}
