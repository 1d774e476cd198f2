/**
 * Finds the by-products among the new files of a sandbox: files that the repository's own `.gitignore` excludes, and a
 * few names that only tools create. `git add` would skip them, so a landing skips them too. Files that the base tracks
 * are never ignored.
 */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { decodePath, encodePath } from "../objects/git-path.ts";
import type { TreeEntry } from "../objects/git-object.ts";
import { gitFailure } from "../process/git-process.ts";
import { readObjects } from "../objects/objects.ts";
import type { Scratch } from "../repository/scratch.ts";

/** Names left by running checks, for repositories that do not ignore them. */
export const BY_PRODUCTS: readonly string[] = [
  "node_modules/",
  "__pycache__/",
  "*.py[cod]",
  ".pytest_cache/",
  ".mypy_cache/",
  ".ruff_cache/",
  ".venv/",
  ".tox/",
  ".nox/",
  "*.egg-info/",
  "*.tsbuildinfo",
  ".eslintcache",
  ".stylelintcache",
  ".turbo/",
  ".gradle/",
  ".DS_Store",
];

const MAX_RULE_FILES = 1000;
const MAX_RULE_BYTES = 4 * 1024 * 1024;

/**
 * Two processes, or one when no `.gitignore` has to be read.
 * @param entries the new tree; its `.gitignore` files decide
 * @param contents contents of entries that are not in the scratch's store yet, by id
 */
export async function ignoredPaths(
  scratch: Scratch,
  entries: Iterable<TreeEntry>,
  added: readonly string[],
  contents: ReadonlyMap<string, Buffer>,
): Promise<Set<string>> {
  if (added.length === 0) return new Set();
  const rules = [...entries].filter(isRuleFile).slice(0, MAX_RULE_FILES);
  const stored = rules.filter((entry) => !contents.has(entry.id)).map((entry) => entry.id);
  const read = await readObjects(scratch.git.bind(scratch), stored, MAX_RULE_BYTES);
  const workTree = join(scratch.gitDir, "rules");
  await mkdir(workTree);
  for (const entry of rules) {
    const place = join(workTree, entry.path);
    await mkdir(dirname(place), { recursive: true });
    await writeFile(place, contents.get(entry.id) ?? read.get(entry.id)?.body ?? "");
  }
  await writeFile(join(scratch.gitDir, "info", "exclude"), `${BY_PRODUCTS.join("\n")}\n`);
  const args = ["check-ignore", "--no-index", "-z", "--stdin"];
  // With `./`, because git would read a path that starts with a colon as a pattern.
  const stdin = Buffer.concat(added.flatMap((path) => [encodePath(`./${path}`), Buffer.from([0])]));
  const result = await scratch.run({
    args,
    stdin,
    workTree,
    cwd: workTree,
    settings: [["core.bare", "false"]],
  });
  // Exit code 1: none of the paths is ignored.
  if (result.exitCode > 1) throw gitFailure({ args }, result);
  const ignored = new Set<string>();
  for (let at = 0; at < result.stdout.length;) {
    const end = result.stdout.indexOf(0, at);
    ignored.add(decodePath(result.stdout.subarray(at + 2, end)));
    at = end + 1;
  }
  return ignored;
}

function isRuleFile(entry: TreeEntry): boolean {
  return /(^|\/)\.gitignore$/.test(entry.path) && entry.mode.startsWith("100");
}
