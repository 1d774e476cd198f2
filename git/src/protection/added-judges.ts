/**
 * The files that a change adds on the side that judges it. Pure. Their presence can make a check pass (a module that is
 * loaded instead of another, a plugin that a runner finds, a test that ends the process), so the check is also tried
 * without them.
 *
 * A new test, by its name, belongs to the change: a repository may demand one. It counts as a judge only if its text ends
 * the process or takes over the runner. Data decides nothing by itself. A file that the check's own command names is there
 * by the caller's wish.
 */
import { pathMatcher } from "../patch/glob.ts";
import type { CheckedFile } from "../patch/patch-policy.ts";
import { isHarness, isTestByName } from "./side.ts";

export const CODE =
  /\.([mc]?[jt]sx?|py|pyi|rb|go|rs|java|kts?|scala|groovy|cs|fs|swift|php|lua|dart|exs?|pl|pm|sh|bash)$/;

/** Text that ends a process, or that a test runner calls in place of its own. */
const TAKES_OVER =
  /\bTestMain\b|\b(?:os|sys|System|Kernel|process|pytest|std::process|syscall)(?:\.|::)_?(?:[Ee]xit|reallyExit|abort|kill|halt)\b|\b(?:_exit|quit|exit!?)\s?\(|\bgetRuntime\(\)|\bpytest_\w|\batexit\b|\bat_exit\b|\bSystemExit\b|\bsetrlimit\b/;

export interface AddedJudges {
  /** Their text or place lets them decide the check. */
  readonly judges: string[];
  /** Other tests. */
  readonly tests: string[];
}

type Added = Pick<CheckedFile, "path" | "change">;

/** @param textOf the content that the change gives a file */
export function addedJudges(
  files: readonly Added[],
  checks: readonly string[],
  grants: readonly string[],
  textOf: (path: string) => string,
): AddedJudges {
  const granted = pathMatcher(grants);
  const added = files
    .filter(({ change }) => change !== "modify" && change !== "delete")
    .map(({ path }) => path)
    .filter((path) => CODE.test(path) && isHarness(path))
    .filter((path) => !granted.matches(path) && !checks.some((check) => check.includes(path)));
  const isJudge = (path: string): boolean => !isTestByName(path) || TAKES_OVER.test(textOf(path));
  const judges = added.filter(isJudge);
  // Without its tests, a change of nothing else is the base. Beside a judge they go with it, because they may need it.
  const more = files.length > added.length || judges.length > 0;
  return { judges, tests: more ? added.filter((path) => !isJudge(path)) : [] };
}

const IGNORE_RULES = /(?:^|\/)\.(?:git|rg)?ignore$/;

/** Rules of what is ignored, which linters and formatters follow: a source that they name is not looked at any more. */
export function ignoreRules(files: readonly Added[], grants: readonly string[]): string[] {
  const granted = pathMatcher(grants);
  const rules = files
    .map(({ path }) => path)
    .filter((path) => IGNORE_RULES.test(path) && !granted.matches(path));
  // Without its rules, a change of nothing else is the base.
  return rules.length === files.length ? [] : rules;
}
