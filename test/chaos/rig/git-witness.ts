/** Reads a repository with git after a run: its refs, its commits, and the trees that stored patches result in. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { GitCommit, GitRef, PatchedTree } from "../checker/history.ts";

function git(
  repo: string,
  args: readonly string[],
  input?: Buffer,
  env: Record<string, string> = {},
): string {
  return execFileSync("git", ["-C", repo, ...args], {
    encoding: "utf8",
    env: { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1", ...env },
    stdio: ["pipe", "pipe", "pipe"],
    maxBuffer: 256 * 1024 * 1024,
    ...(input === undefined ? {} : { input }),
  });
}

/** `base`: the commit the repository started with. */
export function gitFacts(repo: string, base: string): { refs: GitRef[]; commits: GitCommit[] } {
  const refs = lines(git(repo, ["for-each-ref", "--format=%(objectname) %(refname)", "refs/heads"])).flatMap(
    (line) => {
      const [commit = "", name = ""] = line.split(" ");
      return commit === base && !name.startsWith("refs/heads/antiphon/") ? [] : [{ repo, name, commit }];
    },
  );
  const format = "%H%x00%T%x00%P%x00%(trailers:only,unfold)%x1e";
  const log = refs.length === 0 ? "" : git(repo, ["log", "--branches", `--format=${format}`, `^${base}`]);
  const known = new Map(
    log
      .split("\x1e")
      .map((entry) => entry.trim().split("\0"))
      .filter((fields) => fields.length === 4)
      .map(([id = "", tree = "", parents = "", trailers = ""]) => [
        id,
        { id, tree, parents: parents.split(" "), trailers },
      ]),
  );
  const reached = new Map<string, string[]>();
  for (const { name, commit } of refs) {
    for (let at = known.get(commit); at !== undefined; at = known.get(at.parents[0] ?? "")) {
      reached.set(at.id, [...(reached.get(at.id) ?? []), name]);
    }
  }
  const commits = [...known.values()].map((commit) => ({
    repo,
    id: commit.id,
    tree: commit.tree,
    parents: commit.parents,
    trailers: Object.fromEntries(
      lines(commit.trailers).map((line) => line.split(": ", 2) as [string, string]),
    ),
    refs: reached.get(commit.id) ?? [],
  }));
  return { refs, commits };
}

/** Applies the patch to a commit's tree with plain git, in an index and an object store of its own. */
export function patchedTree(repo: string, on: string, patch: Buffer, digest: string): PatchedTree {
  const dir = mkdtempSync(join(tmpdir(), "antiphon-witness-"));
  const objects = git(repo, ["rev-parse", "--git-path", "objects"]).trim();
  const env = {
    GIT_INDEX_FILE: join(dir, "index"),
    GIT_OBJECT_DIRECTORY: dir,
    GIT_ALTERNATE_OBJECT_DIRECTORIES: objects.startsWith("/") ? objects : join(repo, objects),
  };
  try {
    git(repo, ["read-tree", on], undefined, env);
    git(repo, ["apply", "--cached", "--whitespace=nowarn"], patch, env);
    return { repo, on, patch: digest, tree: git(repo, ["write-tree"], undefined, env).trim() };
  } catch {
    return { repo, on, patch: digest, tree: null }; // It does not apply, which is a valid answer.
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

function lines(text: string): string[] {
  return text.split("\n").filter((line) => line.trim() !== "");
}
