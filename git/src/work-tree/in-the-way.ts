/** Names the files of a work tree that refuse an update of it. Git itself names one of them, or none. */
import { lstat } from "node:fs/promises";
import { encodePath } from "../objects/git-path.ts";
import { ABSENT, parseRaw } from "../change/tree-change.ts";
import { isNear, names, type WorkTreeGit } from "./written-files.ts";

const SHOWN = 5;

interface Refused {
  readonly top: string;
  readonly from: string;
  readonly to: string;
}

/** Two processes. Null: none is found, so git has another reason. */
export async function inTheWay(run: WorkTreeGit, { top, from, to }: Refused): Promise<string | null> {
  const landing = await run(["diff-tree", "-r", "-z", "--no-renames", "--full-index", from, to]);
  const local = await run(["diff-index", "--name-only", "-z", "--ignore-submodules", from, "--"]);
  if (landing.exitCode !== 0 || local.exitCode !== 0) return null;
  const changes = parseRaw(landing.stdout);
  const paths = new Set(changes.map(({ path }) => path));
  const changed = names(local.stdout).filter((path) => paths.has(path));
  const known = changes.filter(({ oldMode }) => oldMode !== ABSENT).map(({ path }) => path);
  const untracked = new Set<string>();
  for (const { path, oldMode } of changes) {
    const there = oldMode === ABSENT ? await standing(top, path) : null;
    if (there !== null && !isNear(there, [...known, ...changed])) untracked.add(there);
  }
  const both = [
    ...(changed.length === 0 ? [] : [`uncommitted changes of ${named(changed)}`]),
    ...(untracked.size === 0 ? [] : [`untracked files (${named([...untracked])})`]),
  ];
  return both.length === 0 ? null : `${both.join(" and ")} are in the way`;
}

/** What stands at a path, or where a directory above it belongs; null: nothing. */
async function standing(top: string, path: string): Promise<string | null> {
  const parts = path.split("/");
  for (let many = 1; many <= parts.length; many += 1) {
    const name = parts.slice(0, many).join("/");
    const found = await lstat(Buffer.concat([Buffer.from(`${top}/`), encodePath(name)])).catch(orAbsent);
    if (found === null) return null;
    if (many === parts.length || !found.isDirectory()) return name;
  }
  return null;
}

function orAbsent(thrown: NodeJS.ErrnoException): null {
  if (thrown.code === "ENOENT" || thrown.code === "ENOTDIR") return null;
  throw thrown;
}

function named(paths: readonly string[]): string {
  const more = paths.length - SHOWN;
  return paths.slice(0, SHOWN).join(", ") + (more > 0 ? ` and ${more} more` : "");
}
