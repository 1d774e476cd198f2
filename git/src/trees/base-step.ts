/**
 * A tree as a step from another one of the same repository: what differs, held in memory and stored as one small document. A
 * commit changes few files, and a step is not of the size of the repository. There are no steps from steps.
 *
 * A step proves nothing. The reader that applies one computes the id of the resulting tree from the ids of all its files,
 * and refuses a tree other than the one that the step's name says.
 */
import { AntiphonError } from "@antiphon/contracts";
import {
  buildTrees,
  formatOf,
  gitObject,
  GITLINK_MODE,
  isObjectId,
  PathConflict,
  type TreeEntry,
} from "../objects/git-object.ts";
import { readObjects } from "../objects/objects.ts";
import { objectStore, openRepo, type RepoLike } from "../repository/repo.ts";
import { withScratch } from "../repository/scratch.ts";
import { rootOf } from "./export-tree.ts";
import { hasTarget, type TarEntry } from "./tar.ts";
import { streamedTar } from "./tar-stream.ts";
import { TAR_END, tarHead, tarPadding } from "./tar-writer.ts";

export type StepFile = Pick<TarEntry, "path" | "mode" | "content">;

export interface BaseStep {
  /** Ids of the two trees. */
  readonly from: string;
  readonly tree: string;
  readonly removed: readonly string[];
  /** Changed and new files and links. */
  readonly files: readonly StepFile[];
}

/** More is exported as a whole. A sandbox-runner mounts a tree over the layer of another one within the same bounds. */
export const STEP_FILES = 500;
export const STEP_BYTES: number = 8 * 1024 * 1024;

const NAME = /^step-([0-9a-f]{40}|[0-9a-f]{64})-([0-9a-f]{40}|[0-9a-f]{64})\.json$/;
const MODES: ReadonlySet<string> = new Set(["100644", "100755", "120000"]);
const PIECE_BYTES = 256 * 1024;

export function stepName(tree: string, from: string): string {
  return `step-${tree}-${from}.json`;
}

/** Null: the object is a whole tree. */
export function stepNamed(name: string): Pick<BaseStep, "tree" | "from"> | null {
  const [, tree, from] = NAME.exec(name) ?? [];
  return tree === undefined || from === undefined ? null : { tree, from };
}

export interface ExportedStep {
  readonly tree: string;
  /** Files of the tree. */
  readonly files: number;
  readonly step: Buffer;
}

/** @param from id of a tree @param to listing of another one @returns null: they differ in too much, or have submodules */
export async function exportStep(
  repo: RepoLike,
  from: { readonly tree: string; readonly entries: readonly TreeEntry[] },
  to: readonly TreeEntry[],
): Promise<ExportedStep | null> {
  const before = new Map(from.entries.map((entry) => [entry.path, entry]));
  const changed: TreeEntry[] = [];
  let kept = 0;
  for (const entry of to) {
    const old = before.get(entry.path);
    if (entry.mode === GITLINK_MODE) return null;
    if (old !== undefined) kept += 1;
    if (old?.id !== entry.id || old.mode !== entry.mode) changed.push(entry);
  }
  if (from.entries.some(({ mode }) => mode === GITLINK_MODE)) return null;
  if (changed.length + before.size - kept > STEP_FILES) return null;
  const after = new Set(to.map(({ path }) => path));
  const removed = [...before.keys()].filter((path) => !after.has(path));
  const store = objectStore(await openRepo(repo));
  const ids = changed.map(({ id }) => id);
  try {
    const read = await withScratch(store, (scratch) =>
      readObjects(scratch.git.bind(scratch), ids, STEP_BYTES),
    );
    const files = changed.map(({ path, mode, id }) => [
      path,
      mode,
      (read.get(id)?.body ?? Buffer.alloc(0)).toString("base64"),
    ]);
    const tree = rootOf(store.format, to);
    const step = Buffer.from(JSON.stringify({ version: 1, from: from.tree, tree, removed, files }));
    return { tree, files: to.length, step };
  } catch (thrown) {
    if (AntiphonError.from(thrown).code === "ANT_GIT_OUTPUT_LIMIT") return null;
    throw thrown;
  }
}

/** @throws AntiphonError ANT_BLOB_CORRUPT when the document is no step, or another one than its name says */
export function readStep(bytes: Buffer, named: Pick<BaseStep, "tree" | "from">): BaseStep {
  const corrupt = (why: string, cause?: unknown): AntiphonError =>
    new AntiphonError("ANT_BLOB_CORRUPT", `the step to tree ${named.tree} ${why}`, { cause });
  let document: Record<string, unknown>;
  try {
    document = Object(JSON.parse(bytes.toString("utf8"))) as Record<string, unknown>;
  } catch (error) {
    throw corrupt("is not JSON", error);
  }
  const { version, from, tree, removed, files } = document;
  if (version !== 1 || from !== named.from || tree !== named.tree) throw corrupt("is another one");
  if (!Array.isArray(removed) || !removed.every(isText) || !Array.isArray(files))
    throw corrupt("has no lists");
  const found = files.map((row: unknown): StepFile => {
    const [path, mode, content] = Array.isArray(row) ? (row as unknown[]) : [];
    if (!isText(path) || !isText(mode) || !MODES.has(mode) || !isText(content))
      throw corrupt("has a file of no known form");
    return { path, mode, content: Buffer.from(content, "base64") };
  });
  return { ...named, removed, files: found };
}

const isText = (value: unknown): value is string => typeof value === "string";

/** The ids of the files of a step, by path. */
export function stepEntries({ tree, files }: BaseStep): TreeEntry[] {
  const format = formatOf(tree);
  return files.map(({ path, mode, content }) => ({ path, mode, id: gitObject(format, "blob", content).id }));
}

/** @param entries everything that the tree holds now @throws AntiphonError ANT_BLOB_CORRUPT */
export function requireTree(tree: string, entries: Iterable<TreeEntry>): void {
  const why = (text: string): AntiphonError =>
    new AntiphonError("ANT_BLOB_CORRUPT", `the step to tree ${tree} ${text}`);
  if (!isObjectId(tree)) throw why("names no tree");
  try {
    const { root } = buildTrees(formatOf(tree), entries);
    if (root !== tree) throw why(`leads to tree ${root}`);
  } catch (thrown) {
    throw thrown instanceof PathConflict ? why(thrown.message) : thrown;
  }
}

/** The archive of the tree that a step leads to, made of the archive of the tree that it starts from. */
export async function* steppedTar(
  from: AsyncIterable<Uint8Array>,
  { removed, files }: BaseStep,
  bounds: { readonly maxFiles: number; readonly maxBytes: number },
): AsyncGenerator<Buffer> {
  const gone = new Set([...removed, ...files.map(({ path }) => path)]);
  let held: Buffer[] = [];
  let bytes = 0;
  const take = (...parts: readonly Buffer[]): void => {
    held.push(...parts);
    bytes += parts.reduce((sum, { length }) => sum + length, 0);
  };
  const given = (): Buffer => {
    const piece = Buffer.concat(held, bytes);
    [held, bytes] = [[], 0];
    return piece;
  };
  for await (const { path, mode, size, pieces } of streamedTar(from, bounds)) {
    const isKept = !gone.has(path);
    const target: Buffer[] = [];
    if (isKept && !hasTarget(mode)) take(...tarHead({ path, mode }, null, size));
    for await (const piece of pieces) {
      if (!isKept) continue;
      if (hasTarget(mode)) target.push(piece);
      else take(piece);
      if (bytes >= PIECE_BYTES) yield given();
    }
    if (isKept && hasTarget(mode)) take(...tarHead({ path, mode }, Buffer.concat(target), 0));
    else if (isKept) take(tarPadding(size));
  }
  for (const { path, mode, content } of files) {
    if (hasTarget(mode)) take(...tarHead({ path, mode }, content, 0));
    else take(...tarHead({ path, mode }, null, content.length), content, tarPadding(content.length));
    if (bytes >= PIECE_BYTES) yield given();
  }
  take(TAR_END);
  yield given();
}
