/** Maps words of a command line to files of the tree: literal names, globs, directories, binaries of packages. */
import { isBelowSources } from "../protection/side.ts";
import { UNKNOWN } from "./check-tree.ts";
import type { Place, Trace, Use } from "./trace.ts";

/** `npx name` starts a tracked `node_modules/.bin/name`, or the repository's own `bin` with that name. */
export function localBinary(name: string, place: Place, trace: Trace): void {
  const linked = trace.tree.file(place.dir, `node_modules/.bin/${name}`);
  if (linked !== null) trace.file(linked, "config", place);
  const manifest = trace.tree.file(place.dir, "package.json");
  if (manifest !== null) trace.follow({ kind: "bin", path: manifest, name, place });
}

/**
 * Reports arguments that are files, globs, or directories of test and tool files. `compared`: options before an input file.
 * `isProgram`: that file is the program to run, and one in the sources is what the check tries.
 */
export function nameFiles(
  args: readonly string[],
  place: Place,
  trace: Trace,
  compared: RegExp | null,
  isProgram = false,
): void {
  let last = "";
  for (const arg of args) {
    const value = /^--?[\w-]+=(.+)$/.exec(arg)?.[1] ?? arg;
    const path = trace.tree.file(place.dir, value);
    const isSource = isProgram && path !== null && isBelowSources(path);
    const use = compared?.test(last) !== true ? "named" : isSource ? "run" : "input";
    reach(value, use, place, trace);
    const directory = value.startsWith("-") ? null : trace.tree.directory(place.dir, value);
    if (directory !== null && directory !== "")
      for (const path of trace.tree.below(directory).slice(0, 500)) trace.file(path, "import", place);
    last = arg;
  }
}

/** Reports the file that a word names, or the files that its wildcards match. Matched files are not named directly. */
export function reach(word: string, use: Use, place: Place, trace: Trace, shell?: true): boolean {
  const path = trace.tree.file(place.dir, word);
  if (path !== null) trace.file(path, use, place, shell);
  if (path !== null) return true;
  if (!/[*?]/.test(word) && !word.includes(UNKNOWN)) return false;
  const matches = trace.tree.matching(place.dir, word);
  for (const match of matches) trace.file(match, use, { ...place, direct: false }, shell);
  return matches.length > 0;
}
