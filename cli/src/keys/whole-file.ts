// Creates a file with all of its content, or not at all: half a key, which a full disk leaves, would be refused for ever.
import { linkSync, rmSync, statSync, writeFileSync } from "node:fs";

/**
 * Leaves an existing file unchanged, unless it is empty, as earlier releases left one on a full disk.
 *
 * @returns whether it was created
 */
export function createWhole(file: string, text: () => string, mode: number): boolean {
  const size = statSync(file, { throwIfNoEntry: false })?.size;
  if (size !== undefined && size > 0) return false;
  if (size === 0) rmSync(file);
  const draft = `${file}.${process.pid}.new`;
  try {
    writeFileSync(draft, text(), { mode, flag: "wx", flush: true });
    linkSync(draft, file);
  } finally {
    rmSync(draft, { force: true });
  }
  return true;
}
