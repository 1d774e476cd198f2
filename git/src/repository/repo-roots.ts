/**
 * Which repositories of this machine may be worked on: those that lie in the deployment's roots, with all that git
 * would read or write for them.
 *
 * Invariants:
 *   RR1 A repository is served when its work tree, its git directory, its branches and its objects are in a root,
 *       links followed. `..`, a link, a repository found further up, a `.git` file, `core.worktree`, alternates and
 *       a linked work tree's main repository all lead somewhere, and that place counts.
 *   RR2 What is not there and what is not served get one answer, so nobody learns what else the machine holds.
 */
import { lstat, readdir, readFile, realpath } from "node:fs/promises";
import { isAbsolute, join, relative, resolve, sep } from "node:path";
import { AntiphonError } from "@antiphon/contracts";
import { openRepo, pathFault, type Repo } from "./repo.ts";

/** Directories repositories lie in; null: any of the machine. */
export type RepoRoots = readonly string[] | null;

/** A repository borrows objects of one that borrows from another, and so on: git follows five. */
const MAX_BORROWED = 5;

/** Opens a repository that is served. @throws AntiphonError ANT_REPO_NOT_FOUND (RR2), ANT_REPO_ROOTS_UNSET, ANT_REPO_* */
export async function openServed(path: string, roots: RepoRoots): Promise<Repo> {
  if (roots === null) return openRepo(path);
  if (roots.length === 0) throw new AntiphonError("ANT_REPO_ROOTS_UNSET");
  const real = await realRoots(roots);
  if (!(await isServed(path, real))) throw notServed(path); // Before git looks at anything there.
  const repo = await openRepo(path);
  for (const place of await placesOf(repo)) if (!(await isServed(place, real))) throw notServed(path);
  return repo;
}

function notServed(path: string): AntiphonError {
  return new AntiphonError("ANT_REPO_NOT_FOUND", `there is no repository at ${path} that is served here`);
}

/** A root that is not there serves nothing. */
async function realRoots(roots: readonly string[]): Promise<string[]> {
  const found = await Promise.all(roots.map((root) => realOf(root)));
  return found.filter((root) => root !== null);
}

async function isServed(path: string, roots: readonly string[]): Promise<boolean> {
  const real = await realOf(path);
  if (real === null) return false;
  return roots.some((root) => {
    const way = relative(root, real);
    return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way));
  });
}

/** Links followed; null: there is nothing, or nothing that may be read. */
async function realOf(path: string): Promise<string | null> {
  if (path.includes("\0")) return null;
  try {
    return await realpath(path);
  } catch (thrown) {
    const fault = pathFault(path, thrown as NodeJS.ErrnoException);
    if (fault.disposition === "retry") throw fault;
    return null;
  }
}

/** Every directory and link that git would go through for this repository. */
async function placesOf(repo: Repo): Promise<string[]> {
  const { top, gitDir, commonDir, objectsDir } = repo;
  const refs = ["HEAD", "config", "packed-refs", "refs", "refs/heads", "refs/heads/antiphon"];
  const links = await Promise.all([
    linksIn(objectsDir),
    linksIn(join(objectsDir, "pack")),
    linksIn(join(objectsDir, "info")),
    ...refs.map((name) => linkAt(join(commonDir, name))),
    linkAt(join(gitDir, "index")),
  ]);
  const borrowed = await alternatesOf(objectsDir, MAX_BORROWED);
  return [top, gitDir, commonDir, objectsDir, ...links.flat(), ...borrowed];
}

async function linksIn(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(absent);
  return (entries ?? []).filter((entry) => entry.isSymbolicLink()).map(({ name }) => join(directory, name));
}

async function linkAt(path: string): Promise<string[]> {
  const found = await lstat(path).catch(absent);
  return found?.isSymbolicLink() === true ? [path] : [];
}

/** Where objects are borrowed from, and where those borrow from. */
async function alternatesOf(objectsDir: string, depth: number): Promise<string[]> {
  if (depth === 0) return [];
  const text = await readFile(join(objectsDir, "info", "alternates"), "utf8").catch(absent);
  const own = (text ?? "").split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  const found: string[] = [];
  for (const line of own) {
    const place = resolve(objectsDir, unquoted(line));
    found.push(place, ...(await alternatesOf(place, depth - 1)));
  }
  return found;
}

/** Git quotes an unusual path like a C string; one that we do not read the same way is served by no root. */
function unquoted(line: string): string {
  if (!line.startsWith('"')) return line;
  return line.includes("\\") ? "/\0" : line.slice(1, line.lastIndexOf('"'));
}

function absent(thrown: NodeJS.ErrnoException): null {
  if (thrown.code === "ENOENT" || thrown.code === "ENOTDIR") return null;
  throw pathFault(thrown.path ?? "", thrown);
}
