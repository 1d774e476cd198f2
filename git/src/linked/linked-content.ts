/**
 * Finds the content that a commit only points to: the files of submodules, and the content of files in Git LFS.
 *
 * Both are looked up where git keeps them on this machine, in `modules/<name>` and `lfs/objects` of the git directory.
 * Nothing is fetched, and no config of a submodule is read. The names and ids come from strangers: a name cannot lead out
 * of `modules`, an id is the digest of what it names, and `served` decides whether a directory may be read at all.
 */
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { GITLINK_MODE, type ObjectFormat, type TreeEntry } from "../objects/git-object.ts";
import { idsUpTo, listTree, readObjects } from "../objects/objects.ts";
import { objectStore, openRepo, type RepoLike } from "../repository/repo.ts";
import { requireId, withScratch, type ObjectStore, type Scratch } from "../repository/scratch.ts";
import { lfsPaths } from "./lfs-paths.ts";
import { MAX_POINTER_BYTES, parsePointer, type LfsPointer } from "./lfs-pointer.ts";
import { submoduleNames } from "./submodule-names.ts";

export interface Submodule {
  path: string;
  commit: string;
  /** Null: its commit is not on this machine. */
  store: ObjectStore | null;
}

export interface LfsFile {
  path: string;
  mode: string;
  pointer: LfsPointer;
  /** Null: its content is not on this machine. */
  place: string | null;
}

export interface LinkedContent {
  /** Outer ones before those inside them. */
  submodules: Submodule[];
  files: LfsFile[];
}

/** True for a directory or file that git may read. */
export type Served = (place: string) => Promise<boolean>;

/** One repository: the root's, or that of a submodule. */
interface Level {
  store: ObjectStore;
  /** Git directories in which modules and LFS content are looked up. */
  gitDirs: readonly string[];
  /** The path of its files in the whole tree: "" or "vendor/lib/". */
  prefix: string;
}

/** Submodules inside submodules; deeper ones stay empty. */
const MAX_DEPTH = 4;
const MAX_MODULES_BYTES = 1024 * 1024;

export async function linkedContent(repo: RepoLike, commit: string, served: Served): Promise<LinkedContent> {
  requireId(commit);
  const opened = await openRepo(repo);
  const gitDirs = [...new Set([opened.gitDir, opened.commonDir])];
  const found: LinkedContent = { submodules: [], files: [] };
  await surveyLevel({ store: objectStore(opened), gitDirs, prefix: "" }, commit, served, found, 1);
  return found;
}

async function surveyLevel(
  level: Level,
  commit: string,
  served: Served,
  found: LinkedContent,
  depth: number,
): Promise<void> {
  const { gitlinks, names, pointers } = await withScratch(level.store, (scratch) =>
    readLevel(scratch, commit),
  );
  for (const { path, mode, pointer } of pointers) {
    const place = await lfsPlace(level.gitDirs, pointer, served);
    found.files.push({ path: level.prefix + path, mode, pointer, place });
  }
  for (const { path, id } of gitlinks) {
    const name = names.get(path);
    const module = name === undefined ? null : await openModule(level, name, id, served);
    found.submodules.push({ path: level.prefix + path, commit: id, store: module?.store ?? null });
    if (module === null || depth === MAX_DEPTH) continue;
    const inner = { ...module, prefix: `${level.prefix}${path}/` };
    await surveyLevel(inner, id, served, found, depth + 1);
  }
}

async function readLevel(scratch: Scratch, commit: string) {
  const run = scratch.git.bind(scratch);
  const entries = await listTree(run, commit);
  const gitlinks = entries.filter(({ mode }) => mode === GITLINK_MODE);
  const files = entries.filter(({ mode }) => mode.startsWith("100"));
  const names = gitlinks.length === 0 ? new Map<string, string>() : await readNames(scratch, files);
  const tracked = await lfsPaths(
    scratch,
    commit,
    entries,
    files.map(({ path }) => path),
  );
  const pointers = await readPointers(
    scratch,
    files.filter(({ path }) => tracked.has(path)),
  );
  return { gitlinks, names, pointers };
}

async function readNames(scratch: Scratch, files: readonly TreeEntry[]): Promise<Map<string, string>> {
  const entry = files.find(({ path }) => path === ".gitmodules");
  if (entry === undefined) return new Map();
  const run = scratch.git.bind(scratch);
  const small = await idsUpTo(run, [entry.id], MAX_MODULES_BYTES);
  const body = (await readObjects(run, small, MAX_MODULES_BYTES)).get(entry.id)?.body;
  if (body === undefined) return new Map();
  // Git reads no included file for a config on stdin. A `.gitmodules` that is no config names no submodule.
  const args = ["config", "--file", "-", "--null", "--list"];
  const { exitCode, stdout } = await scratch.run({ args, stdin: body });
  return exitCode === 0 ? submoduleNames(stdout.toString("utf8")) : new Map();
}

async function readPointers(scratch: Scratch, files: readonly TreeEntry[]) {
  if (files.length === 0) return [];
  const run = scratch.git.bind(scratch);
  const small = await idsUpTo(
    run,
    files.map(({ id }) => id),
    MAX_POINTER_BYTES,
  );
  const bodies = await readObjects(run, small, MAX_POINTER_BYTES * small.size);
  return files.flatMap(({ path, mode, id }) => {
    const body = bodies.get(id)?.body;
    const pointer = body === undefined ? null : parsePointer(body);
    return pointer === null ? [] : [{ path, mode, pointer }];
  });
}

async function lfsPlace(
  gitDirs: readonly string[],
  { oid }: LfsPointer,
  served: Served,
): Promise<string | null> {
  for (const gitDir of gitDirs) {
    const place = join(gitDir, "lfs", "objects", oid.slice(0, 2), oid.slice(2, 4), oid);
    if ((await isThere(place)) && (await served(place))) return place;
  }
  return null;
}

async function openModule(
  outer: Level,
  name: string,
  commit: string,
  served: Served,
): Promise<Omit<Level, "prefix"> | null> {
  for (const gitDir of outer.gitDirs) {
    const module = join(gitDir, "modules", name);
    const objectsDir = join(module, "objects");
    if (!(await isThere(objectsDir)) || !(await served(module))) continue;
    const store = await storeOf(module, objectsDir, outer.store.format);
    const args = ["cat-file", "-e", `${requireId(commit)}^{tree}`];
    const { exitCode } = await withScratch(store, (scratch) => scratch.run({ args }));
    if (exitCode === 0) return { store, gitDirs: [module] };
  }
  return null;
}

async function storeOf(module: string, objectsDir: string, format: ObjectFormat): Promise<ObjectStore> {
  const shallowFile = join(module, "shallow");
  return (await isThere(shallowFile)) ? { objectsDir, format, shallowFile } : { objectsDir, format };
}

async function isThere(place: string): Promise<boolean> {
  return (await stat(place).catch(() => null)) !== null;
}
