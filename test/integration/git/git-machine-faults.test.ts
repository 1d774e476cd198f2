/** A fault of the machine during a git process is not an answer about the repository. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { git } from "../../../git/src/process/git-process.ts";
import { cleanUpRepos, makeRepo, tempDir, type TestRepo } from "../../support/repo.ts";
import { exportedTree } from "../../support/exported-tree.ts";
import { patient } from "../../support/patience.ts";

const PASSES = { code: "ANT_GIT_INTERRUPTED", disposition: "retry" };

afterEach(() => {
  vi.unstubAllEnvs();
  cleanUpRepos();
});

/** From now on every reader of the object waits for a writer that never comes. */
function neverEnds(repo: TestRepo, id: string): void {
  const file = join(repo.path, ".git", "objects", id.slice(0, 2), id.slice(2));
  rmSync(file);
  execFileSync("mkfifo", [file]);
}

function gitWith(...words: string[]): number {
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    let command: string[] = [];
    try {
      command = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
    } catch {
      continue; // It ended meanwhile.
    }
    if (command[0] === "git" && words.every((word) => command.includes(word))) return Number(pid);
  }
  throw new Error(`no git ${words.join(" ")} runs`);
}

describe("a git process", () => {
  it("git/G2: that is killed from outside is retried, and says nothing about the repository", async () => {
    const repo = makeRepo({ files: { "a.txt": "a\n" } });
    neverEnds(repo, repo.git("rev-parse", "HEAD^{tree}"));
    const exporting = exportedTree(repo.path, repo.head);
    const ended = expect(exporting).rejects.toMatchObject({
      ...PASSES,
      detail: expect.stringContaining("SIGKILL") as string,
    });
    process.kill(
      await vi.waitFor(() => gitWith("ls-tree", repo.head), { timeout: patient(20_000) }),
      "SIGKILL",
    );
    await ended;
  });

  it("git/G2: that finds no room on the disk is retried, and one that refuses is not", async () => {
    const gitDir = join(makeRepo({ files: { "a.txt": "a\n" } }).path, ".git");
    await expect(git({ gitDir, args: ["archive", "-o", "/dev/full", "HEAD"] })).rejects.toMatchObject(PASSES);
    await expect(git({ gitDir, args: ["archive", "nothing"] })).rejects.toMatchObject({
      code: "ANT_GIT_FAILED",
    });
  });

  it("git/G2: that cannot be started for lack of open files is retried, and a missing git is not", async () => {
    // Another process restores the limit on open files, because with it this one cannot start a process.
    const { pid } = process;
    const before = /Max open files\s+(\d+)/.exec(readFileSync("/proc/self/limits", "utf8"))?.[1] ?? "";
    const steps = [`prlimit --pid ${pid} --nofile=8:`, "echo low", "read go"];
    const script = [...steps, `prlimit --pid ${pid} --nofile=${before}:`, "echo up"].join("\n");
    const helper = spawn("sh", ["-c", script], { stdio: ["pipe", "pipe", "inherit"] });
    await once(helper.stdout, "data");
    const failed = await git({ args: ["version"] }).catch((thrown: unknown) => thrown);
    helper.stdin.end("go\n");
    await once(helper.stdout, "data");
    await once(helper, "close");
    expect(failed).toMatchObject(PASSES);

    vi.stubEnv("PATH", tempDir());
    await expect(git({ args: ["version"] })).rejects.toMatchObject({ code: "ANT_GIT_MISSING" });
  });
});
