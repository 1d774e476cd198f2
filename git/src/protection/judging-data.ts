/**
 * Data with a plain name that only the judging side knows: `data/rates.json`, which a test compares with and no source
 * reads. Pure: the change, the guards and a search of the base decide.
 *
 * Such a file may change, because a repository's product can be data that tests validate. But the change is also tried with
 * the file of the base, so an expectation that was bent to a broken source is seen.
 */
import type { CheckedFile } from "../patch/patch-policy.ts";
import { pathMatcher } from "../patch/glob.ts";
import type { Guard } from "./guard.ts";
import { judgesBy, namingOf, type FilesWith } from "./naming.ts";
import { isProgramText } from "./program-text.ts";
import { isDocument } from "./side.ts";

/** Each is a search of the whole tree. A change of more data is about data. */
const MOST = 8;

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
    .filter((path) => !isProgramText(path) && !isDocument(path) && !granted.matches(path));
  // Without its data, a change of nothing else is the base.
  if (changed.length === 0 || changed.length > MOST || changed.length === files.length) return [];
  const judges = judgesBy(guards);
  const known = await Promise.all(changed.map((path) => namingOf(path, filesWith)));
  return changed.filter((_, i) => known[i]?.files.every(judges) === true);
}
