/**
 * Finds the files of code that name a file of the base, or else its directory. Pure: the result of a search of the base is
 * an argument.
 */
import { foldedPath } from "../patch/path-rules.ts";
import { closingMatcher } from "../patch/glob.ts";
import { CODE } from "./added-judges.ts";
import type { Guard } from "./guard.ts";
import { isHarness } from "./side.ts";

/** A shorter word is in every file. */
const SHORTEST = 4;

/** The files of the base that contain one of the words. */
export type FilesWith = (words: readonly string[]) => Promise<readonly string[]>;

export interface Naming {
  /** `directory`: nothing names the file itself. */
  readonly by: "name" | "directory";
  readonly files: readonly string[];
}

/** Null: no code names it. */
export async function namingOf(path: string, filesWith: FilesWith): Promise<Naming | null> {
  for (const { by, words } of wordsFor(path)) {
    const files = (await filesWith(words)).filter((file) => file !== path && CODE.test(file));
    if (files.length > 0) return { by, files };
  }
  return null;
}

/** Whether a file of the base judges: by its name and place, or because the check is found to run it. */
export function judgesBy(guards: readonly Guard[]): (path: string) => boolean {
  const judging = guards.filter(({ unless }) => unless === undefined);
  const reached = closingMatcher(judging.map(({ glob }) => foldedPath(glob)));
  return (path) => isHarness(path) || reached.matches(foldedPath(path));
}

function wordsFor(path: string): { by: Naming["by"]; words: string[] }[] {
  const [name = "", directory = ""] = path.split("/").reverse();
  const stem = name.slice(0, Math.max(0, name.lastIndexOf(".")));
  const named = [name, stem].map((word) => ({ by: "name" as const, words: [word] }));
  const near = [`${directory}/`, `${directory}"`, `${directory}'`, `${directory}\``];
  const all = directory === "" ? named : [...named, { by: "directory" as const, words: near }];
  return all.filter(({ words }) => words.every((word) => word.length >= SHORTEST));
}
