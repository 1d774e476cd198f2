/**
 * Files that the check was seen to open and that no source names: data whose name is put together at run time, and code in
 * a directory that only the judging side names. Pure: the change, what was opened, the guards and a search of the base decide.
 *
 * The text of the base does not tell how such a file is used. So, like data that only tests know (judging-data.ts), it may
 * change, and the change is also tried with the file of the base.
 */
import type { CheckedFile } from "../patch/patch-policy.ts";
import { pathMatcher } from "../patch/glob.ts";
import type { Guard } from "./guard.ts";
import { judgesBy, namingOf, type FilesWith } from "./naming.ts";
import { isConfiguration } from "./places.ts";
import { isProgramText } from "./program-text.ts";
import { isBelowSources, isDocument } from "./side.ts";

/** Each is a search of the whole tree. */
const MOST = 8;

/** Code of these languages is loaded by its name. In others, such as Go, a directory of files is one program. */
const LOADED_BY_NAME = /\.([mc]?[jt]sx?|py|pl|pm|lua|sh|bash)$/;

/**
 * @param opened what the check opened, with the change or without it
 * @param grants files that the run may change are not tried without their change
 */
export async function openedFiles(
  files: readonly Pick<CheckedFile, "path" | "change">[],
  opened: ReadonlySet<string>,
  guards: readonly Guard[],
  grants: readonly string[],
  filesWith: FilesWith,
): Promise<string[]> {
  const changed = openable(files, grants).filter((path) => opened.has(path));
  if (changed.length === 0 || changed.length > MOST) return [];
  const judges = judgesBy(guards);
  const found = await Promise.all(
    changed.map(async (path) => ((await isUnexplained(path, judges, filesWith)) ? [path] : [])),
  );
  const unexplained = found.flat();
  // Without these files, a change of nothing else is the base.
  return unexplained.length === files.length ? [] : unexplained;
}

/** The files of the change that are looked at if the check opens them. */
export function openable(
  files: readonly Pick<CheckedFile, "path" | "change">[],
  grants: readonly string[],
): string[] {
  const granted = pathMatcher(grants);
  return files
    .filter(({ change }) => change === "modify" || change === "delete")
    .map(({ path }) => path)
    .filter((path) => !isBelowSources(path) && !isDocument(path) && !granted.matches(path))
    .filter((path) => !isProgramText(path) || LOADED_BY_NAME.test(path));
}

async function isUnexplained(
  path: string,
  judges: (path: string) => boolean,
  filesWith: FilesWith,
): Promise<boolean> {
  const naming = await namingOf(path, filesWith);
  if (!isProgramText(path)) return naming === null;
  // A module that a test names is the object of the test. A configuration names directories of sources, too.
  return naming?.by === "directory" && naming.files.every((file) => judges(file) && !isConfiguration(file));
}
