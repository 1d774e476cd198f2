/**
 * Applies a patch to a tree in a scratch repository. Returns the new tree and the changed files a sandbox needs.
 * Five processes (two for the trees on the way, apply, ls-files, cat-file), about 20 ms for a repository of any size: the index
 * that git applies to holds the paths of the patch and what they could collide with, and no more.
 *
 * Callers run `checkPatch` first. This function itself enforces git's path rules, allows only regular files in the
 * result, and refuses the result if git changed anything that the parser did not find in the patch.
 */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { AntiphonError, limits } from "@antiphon/contracts";
import type { ChangedTree } from "./change.ts";
import type { TreeEntry } from "../objects/git-object.ts";
import { listIndex } from "../objects/objects.ts";
import { firstLine } from "../process/git-process.ts";
import type { FilePatch } from "../patch/file-patch.ts";
import { parsePatch } from "../patch/patch-parser.ts";
import { PatchRefused } from "../patch/patch-refusal.ts";
import { repoSource, type RepoLike } from "../repository/repo.ts";
import { requireId, withScratch, type ObjectSource, type Scratch } from "../repository/scratch.ts";
import { writeIndexFile, type IndexEntry } from "../trees/index-file.ts";
import { readTreeWay } from "../trees/tree-way.ts";
import { changedTree, changesOf, type EntryDifference } from "./index-change.ts";

export interface ApplyOptions {
  /**
   * Where the context does not fit, merge using the blobs the patch was made from (they must be in the source).
   * Default false: every hunk must match with its whole context.
   */
  threeWay?: boolean;
  /** Bound on all changed files together. Default 64 MiB (limits.sandboxFileBytes). */
  maxBytes?: number;
}

export function sourceOf(source: ObjectSource | RepoLike): ObjectSource {
  return typeof source === "object" && "use" in source ? source : repoSource(source);
}

/**
 * @param treeish a full tree or commit id
 * @throws AntiphonError ANT_PATCH_DOES_NOT_APPLY with `data.files` [{path, line, reason}], or a parser's refusal
 */
export async function applyPatch(
  source: ObjectSource | RepoLike,
  treeish: string,
  patch: string | Buffer,
  options: ApplyOptions = {},
): Promise<ChangedTree> {
  requireId(treeish);
  const maxBytes = options.maxBytes ?? limits.sandboxFileBytes;
  const files = parsed(patch, maxBytes);
  return sourceOf(source).use(treeish, (store) =>
    withScratch(store, async (scratch) => {
      const run = scratch.git.bind(scratch);
      const touched = files
        .flatMap(({ oldPath, newPath }) => [oldPath, newPath])
        .filter((path) => path !== null);
      const way = await readTreeWay(run, treeish, touched);
      if (files.length > 0) {
        await writeFile(scratch.indexFile, writeIndexFile(scratch.store.format, way.entries.map(unread)));
        await apply(scratch, patch, options.threeWay ?? false);
      }
      const raw = files.length === 0 ? [] : changesOf(way.entries, await listIndex(run, scratch.indexFile));
      compare(files, raw, options.threeWay ?? false);
      return changedTree(run, way, raw, maxBytes);
    }),
  );
}

/** An index to apply to is compared with no file. */
const unread = (entry: TreeEntry): IndexEntry => ({ ...entry, size: 0 });

function parsed(patch: string | Buffer, maxBytes: number): FilePatch[] {
  try {
    const bounds = { maxBytes: limits.treeHeldBytes, maxFiles: limits.treeFiles, maxBinaryBytes: maxBytes };
    return parsePatch(patch, bounds);
  } catch (thrown) {
    throw codedRefusal(thrown);
  }
}

/** A refusal of the parser as an error with its code; anything else as it is. */
export function codedRefusal(thrown: unknown): unknown {
  if (!(thrown instanceof PatchRefused)) return thrown;
  const { code, message, rule, path, line } = thrown.refusal;
  return new AntiphonError(code, message, { data: { rule, path, line } });
}

async function apply(scratch: Scratch, patch: string | Buffer, threeWay: boolean): Promise<void> {
  const args = ["apply", "--cached", "--whitespace=nowarn", "-p1"];
  if (threeWay) args.push("--3way");
  // A three-way merge writes files where git runs, which in the scratch itself would be its own `config` or `commondir`.
  const cwd = join(scratch.gitDir, "merging");
  await mkdir(cwd);
  const result = await scratch.run({ args, indexFile: scratch.indexFile, stdin: patch, cwd });
  if (result.exitCode === 0) return;
  const files = complaints(result.stderr);
  const first = files[0];
  const detail = first === undefined ? firstLine(result.stderr) : `${first.path}: ${first.reason}`;
  throw new AntiphonError("ANT_PATCH_DOES_NOT_APPLY", detail, { data: { files, stderr: result.stderr } });
}

export interface ApplyComplaint {
  path: string;
  line: number | null;
  reason: string;
}

/** Parses git's `error: patch failed: <path>:<line>`, `error: <path>: <reason>`, and the conflicts of a three-way merge. */
function complaints(stderr: string): ApplyComplaint[] {
  const found: ApplyComplaint[] = [];
  for (const text of stderr.split("\n")) {
    const place = /^error: patch failed: (.+):(\d+)$/.exec(text);
    const other = /^error: (.+): (.+)$/.exec(text);
    const merged = /^Applied patch to '(.+)' with conflicts\.$/.exec(text);
    if (merged !== null) {
      found.push({ path: merged[1] ?? "", line: null, reason: "conflicts with what is there" });
    } else if (place !== null) {
      found.push({
        path: place[1] ?? "",
        line: Number(place[2]),
        reason: `line ${place[2]} is different there`,
      });
    } else if (other !== null && !found.some((complaint) => complaint.path === other[1])) {
      found.push({ path: other[1] ?? "", line: null, reason: other[2] ?? "" });
    }
  }
  return found;
}

/** Compares what git changed with what the parser read. On any difference the result is refused. */
function compare(files: readonly FilePatch[], raw: readonly EntryDifference[], threeWay: boolean): void {
  const expected = new Map<string, { mode: string | null; gone: boolean }>();
  for (const file of files) {
    if (file.oldPath !== null && (file.change === "rename" || file.change === "delete")) {
      expected.set(file.oldPath, { mode: null, gone: true });
    }
  }
  for (const file of files) {
    if (file.newPath !== null) expected.set(file.newPath, { mode: file.newMode, gone: false });
  }
  for (const change of raw) {
    const { path, before, after } = change;
    for (const mode of [before?.mode, after?.mode]) {
      if (mode === "120000") symlink(path);
      if (mode === "160000") throw new AntiphonError("ANT_PATCH_GITLINK", `${path} is a submodule`);
    }
    const plan = expected.get(path);
    // A three-way merge may keep a mode that the branch changed in the meantime.
    const modeDiffers = !threeWay && plan?.mode !== null && plan?.mode !== after?.mode;
    if (plan === undefined || plan.gone !== (after === null) || (after !== null && modeDiffers)) {
      throw new AntiphonError("ANT_PATCH_PARSER_MISMATCH", `git changed ${path} in another way`, {
        data: { path, expected: plan ?? null, found: change },
      });
    }
  }
}

function symlink(path: string): never {
  throw new AntiphonError("ANT_PATCH_SYMLINK", `${path} is a symbolic link`, { data: { path } });
}
