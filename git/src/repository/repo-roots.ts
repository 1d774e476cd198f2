/**
 * Decides which repositories of this machine are served: those inside the deployment's roots, together with everything
 * git would read or write for them.
 *
 * A repository is served if its work tree, git directory, branches and objects are in a root after following links. A
 * `..`, a link, a repository further up, a `.git` file, `core.worktree`, alternates and the main repository of a linked
 * work tree all lead to other places, and each of these places must be in a root. A missing repository and one outside
 * the roots get the same answer, so callers do not learn what else the machine holds.
 */
import { lstat, readdir, readFile, realpath, stat } from "node:fs/promises";
import { isAbsolute, join, relative, resolve, sep } from "node:path";
import { AntiphonError } from "@antiphon/contracts";
import { openRepo, pathFault, type Repo } from "./repo.ts";

/** Directories that may contain repositories; null: any directory of the machine. */
export type RepoRoots = readonly string[] | null;

/** Git follows alternates of alternates up to five levels. */
const MAX_BORROWED = 5;

/** Opens a served repository. `find`: asks git each time unless it remembers. @throws AntiphonError ANT_REPO_NOT_FOUND, ANT_REPO_ROOTS_UNSET, ANT_REPO_* */
export async function openServed(
  path: string,
  roots: RepoRoots,
  find: (path: string) => Promise<Repo> = openRepo,
): Promise<Repo> {
  if (roots === null) return find(path);
  if (roots.length === 0) throw new AntiphonError("ANT_REPO_ROOTS_UNSET");
  const real = await realRoots(roots);
  if (!(await isServed(path, real))) throw notServed(path); // Checked before git reads anything there.
  const repo = await find(path);
  for (const place of await placesOf(repo)) if (!(await isServed(place, real))) throw notServed(path);
  return repo;
}

/**
 * Decides about further places that git keeps for a served repository: a submodule's git directory, a file of Git LFS.
 * Everything that git would read for it must be in a root, too.
 */
export function servedPlaces(roots: RepoRoots): (place: string) => Promise<boolean> {
  if (roots === null) return () => Promise.resolve(true);
  const finding = realRoots(roots);
  return async (place) => {
    const real = await finding;
    const objectsDir = join(place, "objects");
    const isDirectory = (await stat(place).catch(absent))?.isDirectory() === true;
    const inside = isDirectory
      ? [
          objectsDir,
          ...(await linksOf(objectsDir)),
          ...(await linkAt(join(place, "shallow"))),
          ...(await alternatesOf(objectsDir, MAX_BORROWED)),
        ]
      : [];
    for (const each of [place, ...inside]) if (!(await isServed(each, real))) return false;
    return true;
  };
}

function notServed(path: string): AntiphonError {
  return new AntiphonError("ANT_REPO_NOT_FOUND", `there is no repository at ${path} that is served here`);
}

/** Skips roots that do not exist. */
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

/** The real path; null if it does not exist or cannot be read. */
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

/** Every directory and link that git would use for this repository. */
async function placesOf(repo: Repo): Promise<string[]> {
  const { top, gitDir, commonDir, objectsDir } = repo;
  const refs = ["HEAD", "config", "packed-refs", "refs", "refs/heads", "refs/heads/antiphon"];
  const links = await Promise.all([
    linksOf(objectsDir),
    ...refs.map((name) => linkAt(join(commonDir, name))),
    linkAt(join(gitDir, "index")),
  ]);
  const borrowed = await alternatesOf(objectsDir, MAX_BORROWED);
  return [top, gitDir, commonDir, objectsDir, ...links.flat(), ...borrowed];
}

async function linksOf(objectsDir: string): Promise<string[]> {
  const directories = [objectsDir, join(objectsDir, "pack"), join(objectsDir, "info")];
  return (await Promise.all(directories.map((directory) => linksIn(directory)))).flat();
}

async function linksIn(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(absent);
  return (entries ?? []).filter((entry) => entry.isSymbolicLink()).map(({ name }) => join(directory, name));
}

async function linkAt(path: string): Promise<string[]> {
  const found = await lstat(path).catch(absent);
  return found?.isSymbolicLink() === true ? [path] : [];
}

/** The object directories that are borrowed from, directly and through others. */
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

/** Git quotes an unusual path like a C string. A path that cannot be unquoted reliably is in no root. */
function unquoted(line: string): string {
  if (!line.startsWith('"')) return line;
  return line.includes("\\") ? "/\0" : line.slice(1, line.lastIndexOf('"'));
}

function absent(thrown: NodeJS.ErrnoException): null {
  if (thrown.code === "ENOENT" || thrown.code === "ENOTDIR") return null;
  throw pathFault(thrown.path ?? "", thrown);
}
