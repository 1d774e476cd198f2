import { linkSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { flushSync } from "@antiphon/git/disk/flush";
import { uniqueId } from "./ids.ts";

/**
 * Creates a file with this content if there is none; an existing file is left unchanged. If two processes race, one
 * wins and nobody sees half a file. The file survives a power cut.
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

/** Creates the directory and flushes the name of every directory it created. */
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
