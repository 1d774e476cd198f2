// The difference between a repository's last commit and its work tree as it is now, as one patch: changed, deleted and new
// files, but no ignored ones.
//
// Git computes it with an index and an object store of its own in a temporary directory, so neither the user's index nor
// the repository changes.
import { isUtf8 } from "node:buffer";
import { execFile } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { isAbsolute, join } from "node:path";
import { childEnvironment } from "../config.ts";
import { gitRefusal } from "./git-refusal.ts";

export interface WorkTreeDiff {
  /** The top of the work tree. */
  readonly top: string;
  /** The last commit. */
  readonly head: string;
  /** Null: nothing differs. */
  readonly patch: string | null;
  readonly files: number;
}

/** More than the gateway takes in one request, so that it is the gateway that refuses a patch. */
const MAX_BYTES = 64 * 1024 * 1024;
const DIFF = ["--cached", "--binary", "--full-index", "--no-renames", "--no-ext-diff", "--no-textconv"];

/** The top of the work tree and its last commit. @throws Failure ANT_REPO_NOT_GIT, ANT_REPO_NO_COMMITS */
export async function headOf(directory: string): Promise<Pick<WorkTreeDiff, "top" | "head">> {
  const top = (await git(directory, ["rev-parse", "--show-toplevel"])).trim();
  const head = (await git(top, ["rev-parse", "--verify", "HEAD^{commit}"])).trim();
  return { top, head };
}

/** A file of the commit; null: it has none at this path. */
export async function committedText(top: string, commit: string, path: string): Promise<string | null> {
  const listed = await git(top, ["ls-tree", commit, "--", path]);
  return listed.startsWith("100") ? git(top, ["cat-file", "blob", `${commit}:${path}`]) : null;
}

/** Those of the paths that a commit holds as files. */
export async function filesOf(top: string, commit: string, paths: readonly string[]): Promise<string[]> {
  const listed = await git(top, ["ls-tree", commit, "--", ...paths]);
  return paths.filter((path) =>
    listed.split("\n").some((line) => line.startsWith("100") && line.endsWith(`\t${path}`)),
  );
}

/** @throws Failure ANT_REPO_NOT_GIT, ANT_REPO_NO_COMMITS, ANT_REPO_UNREADABLE */
export async function workTreeDiff(directory: string): Promise<WorkTreeDiff> {
  const { top, head } = await headOf(directory);
  const [index = "", objects = ""] = (
    await git(top, ["rev-parse", "--git-path", "index", "--git-path", "objects"])
  ).split("\n");
  const scratch = mkdtempSync(join(tmpdir(), "antiphon-check-"));
  try {
    const env = {
      GIT_INDEX_FILE: join(scratch, "index"),
      GIT_OBJECT_DIRECTORY: join(scratch, "objects"),
      GIT_ALTERNATE_OBJECT_DIRECTORIES: from(top, objects),
    };
    mkdirSync(env.GIT_OBJECT_DIRECTORY);
    if (existsSync(from(top, index))) copyIndex(from(top, index), env.GIT_INDEX_FILE);
    await git(top, ["add", "--all"], env);
    const patch = await textDiff(top, head, scratch, env);
    if (patch === "") return { top, head, patch: null, files: 0 };
    const names = await git(top, ["diff", "--cached", "--name-only", "--no-renames", "-z", head], env);
    return { top, head, patch, files: names.split("\0").length - 1 };
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/**
 * The copy knows which files are unchanged, so git need not read them again. It keeps the time of the index, because git
 * reads those anew that are as young as the index: they may have changed in the second in which it was written.
 */
function copyIndex(index: string, copy: string): void {
  const { atime, mtime } = statSync(index);
  copyFileSync(index, copy);
  utimesSync(copy, atime, mtime);
}

/**
 * A patch travels as a JSON string. If a file has another encoding than UTF-8, all changes become binary ones, which are
 * plain text in a patch.
 */
async function textDiff(
  top: string,
  head: string,
  scratch: string,
  env: Record<string, string>,
): Promise<string> {
  const patch = await gitBytes(top, ["diff", ...DIFF, head], env);
  if (isUtf8(patch)) return patch.toString("utf8");
  const attributes = join(scratch, "attributes");
  writeFileSync(attributes, "* -diff\n");
  return git(top, ["-c", `core.attributesFile=${attributes}`, "diff", ...DIFF, head], env);
}

/** Git answers with a path relative to the directory it ran in. */
function from(top: string, path: string): string {
  return isAbsolute(path) ? path : join(top, path);
}

async function git(...call: Parameters<typeof gitBytes>): Promise<string> {
  return (await gitBytes(...call)).toString("utf8");
}

function gitBytes(
  directory: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<Buffer> {
  const options = {
    env: childEnvironment({ ...env, LC_ALL: "C" }),
    maxBuffer: MAX_BYTES,
    encoding: "buffer" as const,
  };
  return new Promise((resolve, reject) => {
    execFile("git", ["-C", directory, ...args], options, (error, stdout, stderr) => {
      if (error === null) return resolve(stdout);
      reject(gitRefusal(directory, stderr.toString(), error));
    });
  });
}
