/** The difference between two trees: one `diff-tree`, and one `cat-file` for all new objects. */
import { AntiphonError } from "@antiphon/contracts";
import type { ChangedTree, OverlayFile } from "./change.ts";
import { decodePath } from "../objects/git-path.ts";
import type { GitObject } from "../objects/git-object.ts";
import { readObjects, type GitRunner } from "../objects/objects.ts";
import type { Scratch } from "../repository/scratch.ts";

export interface RawChange {
  path: string;
  /** `000000` on the side where the path does not exist. */
  oldMode: string;
  newMode: string;
  newId: string;
  status: string;
}

const TREE_MODE = "040000";
export const ABSENT = "000000";

/** Two processes. Objects of more than `maxBytes` together are ANT_PATCH_TOO_LARGE. */
export async function readChange(
  scratch: Scratch,
  before: string,
  after: string,
  maxBytes: number,
): Promise<{ change: ChangedTree; raw: RawChange[] }> {
  const run = scratch.git.bind(scratch);
  const listing = await run({
    args: ["diff-tree", "-r", "-t", "-z", "--no-renames", "--full-index", before, after],
  });
  const all = parseRaw(listing);
  const files = all.filter((entry) => !isTree(entry));
  const present = all.filter((entry) => entry.newMode !== ABSENT && entry.newMode !== "160000");
  const ids = before === after ? [] : [after, ...present.map((entry) => entry.newId)];
  const read = await readChanged(run, ids, maxBytes);
  const objects = [...read.values()];
  const overlay: OverlayFile[] = [];
  for (const { path, newMode, newId } of files) {
    const content = read.get(newId)?.body;
    if (content !== undefined && (newMode === "100644" || newMode === "100755")) {
      overlay.push({ path, mode: newMode, content });
    }
  }
  const deletions = files.filter((entry) => entry.newMode === ABSENT).map((entry) => entry.path);
  return { change: { tree: after, objects, overlay, deletions }, raw: files };
}

/** One process. Objects of more than `maxBytes` together are ANT_PATCH_TOO_LARGE. */
export async function readChanged(
  run: GitRunner,
  ids: readonly string[],
  maxBytes: number,
): Promise<Map<string, GitObject>> {
  const read = await readObjects(run, ids, maxBytes).catch((thrown: unknown) => {
    if (!(thrown instanceof AntiphonError) || thrown.code !== "ANT_GIT_OUTPUT_LIMIT") throw thrown;
    throw new AntiphonError("ANT_PATCH_TOO_LARGE", `the changed files hold more than ${maxBytes} bytes`, {
      cause: thrown,
    });
  });
  return new Map([...read].map(([id, { kind, body }]) => [id, { id, kind, body }]));
}

function isTree(entry: RawChange): boolean {
  return [entry.oldMode, entry.newMode].every((mode) => mode === TREE_MODE || mode === ABSENT);
}

/** `:<mode> <mode> <id> <id> <status> NUL <path> NUL`. */
export function parseRaw(bytes: Buffer): RawChange[] {
  const changes: RawChange[] = [];
  for (let at = 0; at < bytes.length;) {
    const headEnd = bytes.indexOf(0, at);
    const pathEnd = bytes.indexOf(0, headEnd + 1);
    if (headEnd === -1 || pathEnd === -1) throw new AntiphonError("ANT_GIT_FAILED", "diff-tree: odd output");
    const [oldMode = "", newMode = "", , newId = "", status = ""] = bytes
      .toString("latin1", at + 1, headEnd)
      .split(" ");
    changes.push({ oldMode, newMode, newId, status, path: decodePath(bytes.subarray(headEnd + 1, pathEnd)) });
    at = pathEnd + 1;
  }
  return changes;
}
