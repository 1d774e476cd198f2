/**
 * The trees on the way to some paths, read without the rest of the tree: what an index of these paths holds, and the new trees
 * when they change. Two processes, and one more for each path that is a directory. It costs the same in a repository of any size.
 */
import { AntiphonError, limits } from "@antiphon/contracts";
import { changedTrees, emptyDirectory, type Directory, type EntryChange } from "../objects/directory.ts";
import {
  formatOf,
  gitObject,
  type GitObject,
  type ObjectFormat,
  type TreeEntry,
} from "../objects/git-object.ts";
import { byteKey, decodePath, encodePath } from "../objects/git-path.ts";
import { listTree, readObjects, type GitRunner } from "../objects/objects.ts";

export interface TreeWay {
  /** The id of the whole tree. */
  readonly tree: string;
  /**
   * In git's order: the paths themselves, what lies below one that is a directory, and a file where one needs a directory.
   */
  readonly entries: readonly TreeEntry[];
  /** The new root, and the trees that are new. Each changed path must be one of the paths. */
  changed(changes: readonly EntryChange[]): { root: string; fresh: GitObject[] };
}

/**
 * A path that no tree can hold, such as `../a`, is left out.
 * @throws AntiphonError ANT_REPO_INCOMPLETE when a tree on the way is missing
 */
export async function readTreeWay(
  run: GitRunner,
  treeish: string,
  paths: Iterable<string>,
): Promise<TreeWay> {
  const format = formatOf(treeish);
  const wanted = [...new Set(paths)].filter(isPlain);
  const ways = new Set(wanted.flatMap(outerPaths));
  const [tree, ...ids] = await treeIds(run, treeish, [...ways]);
  if (tree === undefined) throw incomplete(treeish);
  const bodies = await readObjects(run, [tree, ...ids], limits.treeBytes);
  const seen = new Set<string>();
  const read = (id: string, prefix: string): Directory => {
    const body = bodies.get(id)?.body;
    if (body === undefined) throw incomplete(id);
    seen.add(id);
    const directory = parseTree(format, body, prefix);
    directory.id = id;
    for (const [name, child] of directory.directories) {
      const path = `${prefix}${name}`;
      if (ways.has(path)) directory.directories.set(name, read(child.id, `${path}/`));
    }
    return directory;
  };
  const root = read(tree, "");
  return {
    tree,
    entries: await entriesAt(run, root, wanted, ways),
    changed: (changes) => changedTrees(format, root, changes, (id) => seen.has(id)),
  };
}

function incomplete(id: string): AntiphonError {
  const detail = `object ${id} is missing: the clone is partial or damaged`;
  return new AntiphonError("ANT_REPO_INCOMPLETE", detail, { data: { object: id } });
}

function isPlain(path: string): boolean {
  return !path.split("/").some((name) => name === "" || name === "." || name === "..");
}

/** `a/b/c` lies in `a` and `a/b`. */
function outerPaths(path: string): string[] {
  const found: string[] = [];
  for (let cut = path.indexOf("/"); cut > 0; cut = path.indexOf("/", cut + 1)) found.push(path.slice(0, cut));
  return found;
}

/** The ids of the root and of those paths that are directories; git answers in the order of the questions. */
async function treeIds(run: GitRunner, treeish: string, paths: readonly string[]): Promise<string[]> {
  const questions = [`${treeish}^{tree}`, ...paths.map((path) => `${treeish}:${path}`)].map(encodePath);
  const answers = await run({
    args: ["cat-file", "--batch-check=%(objecttype) %(objectname)", "--buffer", "-z"],
    stdin: Buffer.concat(questions.flatMap((question) => [question, Buffer.from([0])])),
  });
  const ids: string[] = [];
  let at = 0;
  for (const question of questions) {
    // A question without an answer is repeated, and may hold a line feed.
    const isRepeated = answers.subarray(at, at + question.length).equals(question);
    const end = answers.indexOf(10, isRepeated ? at + question.length : at);
    const [type = "", id = ""] = answers.toString("latin1", at, end).split(" ");
    if (!isRepeated && type === "tree") ids.push(id);
    if (isRepeated && question === questions[0]) throw incomplete(treeish);
    at = end + 1;
  }
  return ids;
}

/** `<mode> SP <name> NUL <id>`, in git's own forms: old trees hold padded modes, modes such as 100664 and empty directories. */
function parseTree(format: ObjectFormat, body: Buffer, prefix: string): Directory {
  const directory = emptyDirectory();
  const idBytes = format === "sha256" ? 32 : 20;
  const nothing = gitObject(format, "tree", Buffer.alloc(0)).id;
  for (let at = 0; at < body.length;) {
    const space = body.indexOf(32, at);
    const end = body.indexOf(0, space);
    const id = body.toString("hex", end + 1, end + 1 + idBytes);
    const name = decodePath(body.subarray(space + 1, end));
    const mode = Number.parseInt(body.toString("latin1", at, space), 8);
    if ((mode & 0o170000) !== 0o040000)
      directory.files.set(name, { path: `${prefix}${name}`, mode: plainMode(mode), id });
    else if (id !== nothing) directory.directories.set(name, emptyDirectory(id));
    at = end + 1 + idBytes;
  }
  return directory;
}

function plainMode(mode: number): string {
  if ((mode & 0o170000) !== 0o100000) return mode.toString(8);
  return (mode & 0o100) === 0 ? "100644" : "100755";
}

async function entriesAt(
  run: GitRunner,
  root: Directory,
  paths: readonly string[],
  ways: ReadonlySet<string>,
): Promise<TreeEntry[]> {
  const found = new Map<string, TreeEntry>();
  const add = (entry: TreeEntry | undefined): void => {
    if (entry !== undefined) found.set(entry.path, entry);
  };
  for (const path of ways) add(lookedUp(root, path).file);
  for (const path of paths) {
    const { file, directory } = lookedUp(root, path);
    add(file);
    if (directory === undefined) continue;
    for (const below of await listTree(run, directory.id)) add({ ...below, path: `${path}/${below.path}` });
  }
  const keyed = [...found.values()].map((entry) => ({ entry, key: byteKey(entry.path) }));
  return keyed.sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ entry }) => entry);
}

function lookedUp(root: Directory, path: string): { file?: TreeEntry; directory?: Directory } {
  const names = path.split("/");
  const last = names.pop() ?? "";
  let at: Directory | undefined = root;
  for (const name of names) at = at?.directories.get(name);
  const [file, directory] = [at?.files.get(last), at?.directories.get(last)];
  return { ...(file && { file }), ...(directory && { directory }) };
}
