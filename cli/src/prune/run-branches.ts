// The branches of runs in a repository, read and deleted with git.
import { execFile } from "node:child_process";
import { childEnvironment } from "../config.ts";
import { gitRefusal } from "../checks/git-refusal.ts";
import type { RunBranch } from "./prune-plan.ts";

const FIELDS = ["%(refname)", "%(objectname)", "%(committerdate:unix)", "%(worktreepath)"];
const RUN_REF = /^refs\/heads\/antiphon\/(run_[a-z0-9]{1,32})$/;

export async function runBranches(repo: string): Promise<RunBranch[]> {
  const list = (...more: string[]): Promise<string> =>
    git(repo, ["for-each-ref", `--format=${FIELDS.join("%09")}`, ...more, "refs/heads/antiphon/"]);
  const [all, merged] = await Promise.all([list(), list("--merged=HEAD")]);
  const inHead = new Set(merged.split("\n").map((line) => line.split("\t")[0]));
  return all.split("\n").flatMap((line) => {
    const [ref = "", commit = "", seconds = "", path = ""] = line.split("\t");
    const runId = RUN_REF.exec(ref)?.[1];
    if (runId === undefined) return [];
    const at = Number(seconds) * 1_000;
    return [{ ref, runId, commit, committedAt: at, isMerged: inHead.has(ref), isCheckedOut: path !== "" }];
  });
}

/** Deletes the ref only if it still is at the commit that was looked at. */
export async function deleteBranch(repo: string, { ref, commit }: RunBranch): Promise<void> {
  await git(repo, ["update-ref", "-d", ref, commit]);
}

function git(repo: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(
      "git",
      ["-C", repo, ...args],
      { env: childEnvironment({ LC_ALL: "C" }), maxBuffer: 64 * 1024 * 1024 },
      (error, stdout, stderr) => {
        if (error === null) return resolve(stdout);
        reject(gitRefusal(repo, stderr, error));
      },
    );
  });
}
