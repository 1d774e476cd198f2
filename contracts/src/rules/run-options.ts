/** Rules of what a run may ask for: names that reach git, and globs that are matched with every path of a change. */
import { isRefName } from "../git-name.ts";
import { globFault } from "../glob.ts";
import { show } from "../problem.ts";
import { member, type Rule } from "./rule.ts";

/** Names that git is given; `RunOptions` and the question about a repository have the same two. */
export const gitNameRules: readonly Rule[] = (["base_ref", "land_on"] as const).map((key) => ({
  id: `git-names/${key.replace("_", "-")}`,
  says: `\`${key}\` is the name of a ref or a commit id, and no expression that git would evaluate.`,
  check: (value) => {
    const name = member(value, key);
    if (typeof name !== "string" || isRefName(name)) return null;
    const expected = key === "base_ref" ? "a branch, a tag or a commit id" : "a name a branch can have";
    return { path: `/${key}`, message: `must be ${expected}`, expected, found: show(name) };
  },
}));

export const globRules: readonly Rule[] = (["scope", "grants"] as const).map((key) => ({
  id: `run-options/${key}-matchable`,
  says: `\`${key}\` can be matched in time: its braces and its wildcards are bounded.`,
  check: (value) => {
    const globs = member(value, key);
    const fault = Array.isArray(globs) ? globFault(globs.filter((glob) => typeof glob === "string")) : null;
    return fault === null ? null : { path: `/${key}`, message: fault, expected: "fewer or shorter globs", found: show(globs) };
  },
}));
