/**
 * Applies a patch to a tree in a scratch repository. Returns the new tree and the changed files a sandbox needs.
 * Five processes (read-tree, apply, write-tree, diff-tree, cat-file), about 20 ms.
 *
 * Callers run `checkPatch` first. This function itself enforces git's path rules, allows only regular files in the
 * result, and refuses the result if git changed anything that the parser did not find in the patch.
 */
import { AntiphonError, limits } from "@antiphon/contracts";
import type { ChangedTree } from "./change.ts";
import { firstLine } from "../process/git-process.ts";
import { parsePatch, type FilePatch } from "../patch/patch-parser.ts";
import { PatchRefused } from "../patch/patch-refusal.ts";
import { repoSource, type RepoLike } from "../repository/repo.ts";
import { requireId, withScratch, type ObjectSource, type Scratch } from "../repository/scratch.ts";
import { readChange, type RawChange } from "./tree-change.ts";

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
      const indexFile = scratch.indexFile;
      await scratch.git({ args: ["read-tree", treeish], indexFile });
      if (files.length > 0) await apply(scratch, patch, options.threeWay ?? false);
      const tree = (await scratch.git({ args: ["write-tree"], indexFile })).toString("latin1").trim();
      const { change, raw } = await readChange(scratch, treeish, tree, maxBytes);
      compare(files, raw, options.threeWay ?? false);
      return change;
    }),
  );
}

function parsed(patch: string | Buffer, maxBytes: number): FilePatch[] {
  try {
    const bounds = { maxBytes: limits.treeBytes, maxFiles: limits.treeFiles, maxBinaryBytes: maxBytes };
    return parsePatch(patch, bounds);
  } catch (thrown) {
    if (!(thrown instanceof PatchRefused)) throw thrown;
    const { code, message, rule, path, line } = thrown.refusal;
    throw new AntiphonError(code, message, { data: { rule, path, line } });
  }
}

async function apply(scratch: Scratch, patch: string | Buffer, threeWay: boolean): Promise<void> {
  const args = ["apply", "--cached", "--whitespace=nowarn", "-p1"];
  if (threeWay) args.push("--3way");
  const result = await scratch.run({ args, indexFile: scratch.indexFile, stdin: patch });
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
function compare(files: readonly FilePatch[], raw: readonly RawChange[], threeWay: boolean): void {
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
    for (const mode of [change.oldMode, change.newMode]) {
      if (mode === "120000") symlink(change.path);
      if (mode === "160000") throw new AntiphonError("ANT_PATCH_GITLINK", `${change.path} is a submodule`);
    }
    const plan = expected.get(change.path);
    const gone = change.newMode === "000000";
    // A three-way merge may keep a mode that the branch changed in the meantime.
    const modeDiffers = !threeWay && plan?.mode !== null && plan?.mode !== change.newMode;
    if (plan === undefined || plan.gone !== gone || (!gone && modeDiffers)) {
      throw new AntiphonError("ANT_PATCH_PARSER_MISMATCH", `git changed ${change.path} in another way`, {
        data: { path: change.path, expected: plan ?? null, found: change },
      });
    }
  }
}

function symlink(path: string): never {
  throw new AntiphonError("ANT_PATCH_SYMLINK", `${path} is a symbolic link`, { data: { path } });
}
