import { linkSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { flushSync } from "@antiphon/git/disk/flush";
import { uniqueId } from "./ids.ts";

/**
 * Makes a file with these contents where there is none. Of two processes that do so at once one is first, and nobody
 * sees half of it; it is there after a power cut. A file that is there already stays as it is.
 */
export function makeOnce(file: string, text: string, mode: number): void {
  const draft = `${file}.${uniqueId()}`;
  try {
    makeDirectory(resolve(dirname(file)));
    writeFileSync(draft, text, { mode, flag: "wx", flush: true });
    linkIfAbsent(draft, file);
    flushSync(dirname(file));
  } finally {
    rmSync(draft, { force: true });
  }
}

/** With the names of all that had to be made. */
function makeDirectory(directory: string): void {
  const first = mkdirSync(directory, { recursive: true });
  if (first === undefined) return;
  for (let made = directory; made.length >= first.length; made = dirname(made)) flushSync(dirname(made));
}

function linkIfAbsent(draft: string, file: string): void {
  try {
    linkSync(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}
