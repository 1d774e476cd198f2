/** What a person would do with a commit: a work tree of it, its packages, its check; on this machine or in a container. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sandboxImage } from "../../support/docker.ts";
import { CHECK, type Generated } from "./generated.ts";

/** Milliseconds of each step. */
export interface ByHand {
  readonly worktree: number;
  readonly install: number;
  readonly check: number;
  /** `docker run -v` of the work tree with its packages, and nothing done in it. */
  readonly container: number;
}

const INSTALL = ["ci", "--no-audit", "--no-fund"];

export function byHand({ path }: Generated): ByHand {
  return inWorktree(path, (tree, worktree) => ({
    worktree,
    install: timed(() => quiet("npm", INSTALL, tree)),
    check: timed(() => failing(tree)),
    container: timed(() => quiet("docker", [...mounted(tree), "true"], tree)),
  }));
}

/** Milliseconds of a bare `npm ci`: on this machine, and in a container of the sandboxes' image on a mounted directory. */
export function installs({ path }: Generated): { readonly here: number; readonly inContainer: number } {
  const here = inWorktree(path, (tree) => timed(() => quiet("npm", INSTALL, tree)));
  const inContainer = inWorktree(path, (tree) =>
    timed(() => quiet("docker", [...mounted(tree), "npm", ...INSTALL], tree)),
  );
  return { here, inContainer };
}

function inWorktree<T>(path: string, use: (tree: string, worktreeMs: number) => T): T {
  const directory = mkdtempSync(join(tmpdir(), "antiphon-by-hand-"));
  const tree = join(directory, "tree");
  const git = (...args: string[]): void => quiet("git", ["-C", path, "worktree", ...args], path);
  try {
    return use(
      tree,
      timed(() => git("add", "--quiet", "--detach", tree, "HEAD")),
    );
  } finally {
    rmSync(directory, { recursive: true, force: true });
    git("prune");
  }
}

/** As root, because the files are those of whoever measures. */
const mounted = (tree: string): string[] => {
  const own = ["--network", "none", "--user", "0", "--env", "HOME=/tmp"];
  return ["run", "--rm", "--volume", `${tree}:/workspace`, "--workdir", "/workspace", ...own, sandboxImage()];
};

/** The check fails on the commit, as it should. */
function failing(tree: string): void {
  try {
    quiet("sh", ["-c", CHECK], tree);
  } catch {
    return;
  }
  throw new Error("the check of a broken commit passed");
}

function quiet(program: string, args: readonly string[], cwd: string): void {
  execFileSync(program, args, { cwd, stdio: "ignore" });
}

function timed(work: () => void): number {
  const begun = performance.now();
  work();
  return performance.now() - begun;
}
