/**
 * The files that a change adds on the side that judges it, other than tests. Pure. Their presence can make a check pass
 * (a module that is loaded instead of another, a plugin that a runner finds), so the check is also tried without them.
 *
 * A new test, by its name, belongs to the change: a repository may demand one. Data decides nothing by itself. A file that
 * the check's own command names is there by the caller's wish.
 */
import { pathMatcher } from "../patch/glob.ts";
import type { CheckedFile } from "../patch/patch-policy.ts";
import { isHarness, isTestByName } from "./side.ts";

const CODE =
  /\.([mc]?[jt]sx?|py|pyi|rb|go|rs|java|kts?|scala|groovy|cs|fs|swift|php|lua|dart|exs?|pl|pm|sh|bash)$/;

export function addedJudges(
  files: readonly Pick<CheckedFile, "path" | "change">[],
  checks: readonly string[],
  grants: readonly string[],
): string[] {
  const granted = pathMatcher(grants);
  return files
    .filter(({ change }) => change !== "modify" && change !== "delete")
    .map(({ path }) => path)
    .filter((path) => CODE.test(path) && isHarness(path) && !isTestByName(path))
    .filter((path) => !granted.matches(path) && !checks.some((check) => check.includes(path)));
}
