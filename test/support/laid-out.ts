/** A workspace as a sandbox gets it, in a directory of this machine: the tree, what is laid over it, and its `.git`. */
import { execFileSync } from "node:child_process";
import { exportHistory, exportLinked, type HistoryOptions } from "@antiphon/git";
import { rawGit, tempDir } from "./repo.ts";
import { exportedTree } from "./exported-tree.ts";

export interface LaidOut {
  path: string;
  /** Commits in the history; null: it did not fit. */
  commits: number | null;
  cut: boolean;
  absent: string[];
  readonly git: (...args: string[]) => string;
  readonly files: () => string[];
}

export async function layOut(
  repo: string,
  commit: string,
  options: Partial<HistoryOptions> = {},
  served: (place: string) => Promise<boolean> = () => Promise.resolve(true),
): Promise<LaidOut> {
  const path = tempDir();
  const extract = (tar: Buffer): void =>
    void execFileSync("tar", ["-xf", "-", "-C", path], { input: tar, stdio: ["pipe", "pipe", "pipe"] });
  const { tar } = await exportedTree(repo, commit);
  const linked = await exportLinked(repo, commit, served);
  const { sizes } = linked;
  const history = await exportHistory(repo, commit, {
    commits: 50,
    branch: "refs/heads/main",
    sizes: () => Promise.resolve(sizes),
    ...options,
  });
  extract(tar);
  if (linked.tar !== null) extract(linked.tar);
  if (history !== null) extract(history.tar);
  return {
    path,
    commits: history?.commits ?? null,
    cut: history?.cut ?? true,
    absent: linked.absent,
    git: (...args) => rawGit(path, ...args),
    files: () =>
      execFileSync("find", [".", "-path", "./.git", "-prune", "-o", "!", "-type", "d", "-print"], {
        cwd: path,
      })
        .toString()
        .split("\n")
        .filter(Boolean)
        .map((name) => name.slice(2))
        .sort(),
  };
}
