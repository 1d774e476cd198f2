/** Reads trees and blobs in bulk: one `ls-tree` for a listing, one `cat-file --batch` for any number of blobs, held or streamed. */
import { AntiphonError } from "@antiphon/contracts";
import { decodePath } from "./git-path.ts";
import type { ObjectKind, TreeEntry } from "./git-object.ts";
import type { GitCall } from "../process/git-process.ts";
import { PieceReader } from "../process/piece-reader.ts";
import type { Scratch } from "../repository/scratch.ts";

/** The line before each object; the ids of sha256 have 64 digits. */
const MAX_HEADER_BYTES = 256;

/** Starts a git process in a certain repository: a scratch, or the repository of a cached tree. */
export type GitRunner = (call: Omit<GitCall, "gitDir">) => Promise<Buffer>;

export async function listTree(run: GitRunner, treeish: string): Promise<TreeEntry[]> {
  return parseListing(
    await run({ args: ["ls-tree", "-r", "-z", "--full-tree", treeish] }),
    ([mode = "", , id = ""], path) => ({ mode, id, path }),
  );
}

/** The files of an index. @throws AntiphonError ANT_GIT_FAILED when it holds a conflict */
export async function listIndex(run: GitRunner, indexFile: string): Promise<TreeEntry[]> {
  const listing = await run({ args: ["ls-files", "--stage", "-z"], indexFile });
  return parseListing(listing, ([mode = "", id = "", stage = ""], path) => {
    if (stage !== "0") throw new AntiphonError("ANT_GIT_FAILED", `ls-files: ${path} is in conflict`);
    return { mode, id, path };
  });
}

/** The same for a commit. @throws AntiphonError ANT_REPO_INCOMPLETE when its tree cannot be read */
export async function listCommit(run: GitRunner, commit: string): Promise<TreeEntry[]> {
  return listTree(run, commit).catch((cause: unknown) => {
    if (!(cause instanceof AntiphonError) || cause.code !== "ANT_GIT_FAILED") throw cause; // git/G2
    throw new AntiphonError("ANT_REPO_INCOMPLETE", `the tree of ${commit} cannot be read`, { cause });
  });
}

/** The same with the size of each blob; a gitlink has the size 0. */
export async function listTreeWithSizes(
  run: GitRunner,
  treeish: string,
): Promise<(TreeEntry & { size: number })[]> {
  const listing = await run({ args: ["ls-tree", "-r", "-l", "-z", "--full-tree", treeish] });
  return parseListing(listing, (words, path) => {
    const [mode = "", , id = ""] = words;
    return { mode, id, path, size: Number(words.at(-1)) || 0 };
  });
}

/** `<words> TAB <path> NUL`, in git's order: mode, type and id of a tree, with `-l` a padded size; mode, id and stage of an index. */
function parseListing<T>(bytes: Buffer, make: (words: readonly string[], path: string) => T): T[] {
  const entries: T[] = [];
  for (let at = 0; at < bytes.length;) {
    const end = bytes.indexOf(0, at);
    const tab = bytes.indexOf(9, at);
    if (end === -1 || tab === -1 || tab > end)
      throw new AntiphonError("ANT_GIT_FAILED", "a listing: odd output");
    entries.push(
      make(bytes.toString("latin1", at, tab).split(" "), decodePath(bytes.subarray(tab + 1, end))),
    );
    at = end + 1;
  }
  return entries;
}

interface ReadObject {
  kind: ObjectKind;
  body: Buffer;
}

/** Reads objects by id. A missing object (a partial clone, a damaged store) is ANT_REPO_INCOMPLETE. */
export async function readObjects(
  run: GitRunner,
  ids: Iterable<string>,
  maxBytes: number,
): Promise<Map<string, ReadObject>> {
  const wanted = [...new Set(ids)];
  const found = new Map<string, ReadObject>();
  if (wanted.length === 0) return found;
  const bytes = await run({
    args: ["cat-file", "--batch", "--buffer"],
    stdin: `${wanted.join("\n")}\n`,
    // Each answer has a header line and a line feed besides the content.
    maxOutputBytes: maxBytes + wanted.length * 100,
  });
  let at = 0;
  for (const id of wanted) {
    const lineEnd = bytes.indexOf(10, at);
    const header = bytes.toString("latin1", at, lineEnd);
    const size = Number(header.slice(header.lastIndexOf(" ") + 1));
    if (!header.startsWith(id) || !Number.isInteger(size)) throw missingObject(id);
    const kind = header.slice(id.length + 1, header.lastIndexOf(" "));
    const start = lineEnd + 1;
    const end = start + size;
    found.set(id, { kind: kind as ObjectKind, body: bytes.subarray(start, end) });
    at = end + 1;
  }
  return found;
}

function missingObject(id: string): AntiphonError {
  const detail = `object ${id} is missing: the clone is partial or damaged`;
  return new AntiphonError("ANT_REPO_INCOMPLETE", detail, { data: { object: id } });
}

/** The ids of objects within the bound. A missing object is included; reading it gives ANT_REPO_INCOMPLETE. */
export async function idsUpTo(
  run: GitRunner,
  ids: readonly string[],
  maxBytes: number,
): Promise<ReadonlySet<string>> {
  const sizes = await sizesOf(run, ids);
  return new Set(ids.filter((id) => (sizes.get(id) ?? 0) <= maxBytes));
}

/** The sizes of objects. A missing object has none. */
export async function sizesOf(run: GitRunner, ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const bytes = await run({
    args: ["cat-file", "--batch-check=%(objectname) %(objectsize)", "--buffer"],
    stdin: `${[...new Set(ids)].join("\n")}\n`,
  });
  const sizes = new Map<string, number>();
  for (const line of bytes.toString("latin1").split("\n")) {
    const [id = "", size] = line.split(" ");
    if (size !== undefined && /^\d+$/.test(size)) sizes.set(id, Number(size));
  }
  return sizes;
}

export interface StreamedObject {
  id: string;
  size: number;
  /** The whole content, for one that is small. */
  whole: () => Promise<Buffer>;
  /** The content as it comes. One of both has to be read to its end before the next object is asked for. */
  pieces: () => AsyncGenerator<Buffer>;
}

/** Reads objects of any size in this order, one piece at a time. A missing one is ANT_REPO_INCOMPLETE. */
export async function* streamObjects(
  scratch: Pick<Scratch, "stream">,
  ids: readonly string[],
): AsyncGenerator<StreamedObject> {
  let wanted = "";
  const output = scratch.stream({
    args: ["cat-file", "--batch", "--buffer"],
    input: [Buffer.from(`${ids.join("\n")}\n`)],
  });
  const reader = new PieceReader(output, () => missingObject(wanted));
  try {
    for (const id of ids) {
      wanted = id;
      const header = await reader.line(MAX_HEADER_BYTES);
      const size = Number(header.slice(header.lastIndexOf(" ") + 1));
      if (!header.startsWith(id) || !Number.isInteger(size)) throw missingObject(id);
      yield { id, size, whole: () => reader.take(size), pieces: () => reader.pieces(size) };
      await reader.take(1);
    }
    await reader.finish();
  } finally {
    await reader.close();
  }
}
