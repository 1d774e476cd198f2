/**
 * Data with a plain name that only the judging side knows: `data/rates.json`, which a test compares with and no source
 * reads. Pure: the change, the guards and a search of the base decide.
 *
 * Such a file may change, because a repository's product can be data that tests validate. But the change is also tried with
 * the file of the base, so an expectation that was bent to a broken source is seen.
 */
import { foldedPath } from "../patch/path-rules.ts";
import type { CheckedFile } from "../patch/patch-policy.ts";
import { pathMatcher } from "../patch/glob.ts";
import { CODE } from "./added-judges.ts";
import type { Guard } from "./guard.ts";
import { isDocument, isHarness } from "./side.ts";

/** Each is a search of the whole tree. A change of more data is about data. */
const MOST = 8;
/** A shorter word is in every file. */
const SHORTEST = 4;

/** The files of the base that contain one of the words. */
export type FilesWith = (words: readonly string[]) => Promise<readonly string[]>;

/** @param grants files that the run may change are not tried without their change */
export async function judgingData(
  files: readonly Pick<CheckedFile, "path" | "change">[],
  guards: readonly Guard[],
  grants: readonly string[],
  filesWith: FilesWith,
): Promise<string[]> {
  const granted = pathMatcher(grants);
  const changed = files
    .filter(({ change }) => change === "modify" || change === "delete")
    .map(({ path }) => path)
    .filter((path) => !CODE.test(path) && !isDocument(path) && !granted.matches(path));
  // Without its data, a change of nothing else is the base.
  if (changed.length === 0 || changed.length > MOST || changed.length === files.length) return [];
  const judging = guards.filter(({ unless }) => unless === undefined);
  const harness = pathMatcher(judging.map(({ glob }) => foldedPath(glob)));
  const judges = (path: string): boolean => isHarness(path) || harness.matches(foldedPath(path));
  const found = await Promise.all(
    changed.map(async (path) => ((await isKnownToJudges(path, judges, filesWith)) ? [path] : [])),
  );
  return found.flat();
}

/** By its name; if no code has that, by the name of its directory. */
async function isKnownToJudges(
  path: string,
  judges: (path: string) => boolean,
  filesWith: FilesWith,
): Promise<boolean> {
  for (const words of wordsFor(path)) {
    const naming = (await filesWith(words)).filter((file) => file !== path && CODE.test(file));
    if (naming.length > 0) return naming.every(judges);
  }
  return false;
}

function wordsFor(path: string): string[][] {
  const [name = "", directory = ""] = path.split("/").reverse();
  const stem = name.slice(0, Math.max(0, name.lastIndexOf(".")));
  const near =
    directory === "" ? [] : [[`${directory}/`, `${directory}"`, `${directory}'`, `${directory}\``]];
  return [[name], [stem], ...near].filter((words) => words.every((word) => word.length >= SHORTEST));
}
