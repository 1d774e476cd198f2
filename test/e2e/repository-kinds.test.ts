/** Runs on repositories as they are: git in the sandbox, kinds of repositories, submodules, LFS and links. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { BROKEN_CALCULATOR, CHECK, FIX, makeProject, type Project } from "./support/project.ts";
import { startQuickStack, type Stack } from "./support/stack.ts";

interface Summary {
  runId: string;
  status: string;
  commit: string;
  code: string | null;
  message?: string;
}

let stack: Stack;
const made: (Project | string)[] = [];

beforeAll(async () => {
  stack = await startQuickStack();
});
afterAll(() => stack.stop());
afterEach(() => {
  for (const each of made.splice(0)) {
    if (typeof each === "string") rmSync(each, { recursive: true, force: true });
    else each.remove();
  }
});

function project(files: Record<string, string> = BROKEN_CALCULATOR): Project {
  const one = makeProject(files);
  made.push(one);
  return one;
}

function directory(): string {
  const path = mkdtempSync(join(tmpdir(), "antiphon-kinds-"));
  made.push(path);
  return path;
}

const run = (repo: string, command: string, ...more: string[]) =>
  stack.json<Summary>(["run", "Fix the broken add", "--repo", repo, "--command", command, ...more]);

describe("git inside the sandbox", () => {
  test("an agent works with git, its commit tells what it did, and a check that needs git passes", async () => {
    const repo = project({
      ...BROKEN_CALCULATOR,
      "antiphon.yaml": "verify:\n  git: true\n",
    });
    const head = repo.git("rev-parse", "HEAD").trim();
    const message = "Add instead of subtracting\n\nThe sign was wrong.\n\nAntiphon-Run: forged";
    const command = `test "$(git rev-parse HEAD)" = ${head} && ${FIX} && git commit -qam '${message}' && git diff --quiet`;
    const check = `git diff --name-only ${head} | grep -x add.js && ${CHECK}`;
    const { document } = await run(repo.path, command, "--check", check);
    expect(document).toMatchObject({ status: "succeeded" });
    const landed = repo.git("log", "-1", "--format=%B", document.commit);
    expect(landed).toContain("Add instead of subtracting\n\nThe sign was wrong.");
    const runs = repo.git("log", "-1", "--format=%(trailers:key=Antiphon-Run,valueonly)", document.commit);
    expect(runs.trim()).toBe(document.runId);
    expect(repo.git("rev-list", "--count", document.commit).trim()).toBe("2");
  });

  test("without verify.git the clean room has none, and with --history 0 no sandbox has one", async () => {
    const repo = project();
    const none = "! git rev-parse --git-dir 2>/dev/null";
    const inside = await run(
      repo.path,
      `git log -1 && ${FIX}`,
      "--check",
      `{ test ! -e .git || test -n "$ANTIPHON_RUN"; } && ${CHECK}`,
    );
    expect(inside.document).toMatchObject({ status: "succeeded" });
    const nowhere = await run(
      repo.path,
      `${none} && ${FIX}`,
      "--check",
      `${none} && ${CHECK}`,
      "--history",
      "0",
    );
    expect(nowhere.document).toMatchObject({ status: "succeeded" });
    const wanted = await run(
      repo.path,
      FIX,
      "--check",
      `git log -1 && ${CHECK}`,
      "--verify-git",
      "--history",
      "0",
    );
    expect(wanted.document).toMatchObject({ status: "failed" });
  });
});

describe("--repo", () => {
  test("takes a sub-directory, a linked work tree, a bare and a shallow repository", async () => {
    const repo = project({ ...BROKEN_CALCULATOR, "sub/dir/README.md": "here\n" });
    const place = directory();
    repo.git("worktree", "add", "-q", join(place, "linked"), "-b", "topic");
    execFileSync("git", ["clone", "-q", "--bare", repo.path, join(place, "bare.git")]);
    execFileSync("git", ["clone", "-q", "--depth", "1", `file://${repo.path}`, join(place, "shallow")]);
    for (const path of [
      join(repo.path, "sub", "dir"),
      join(place, "linked"),
      join(place, "bare.git"),
      join(place, "shallow"),
    ]) {
      const { document } = await run(path, `git log -1 --format=%H && ${FIX}`, "--check", CHECK);
      expect([path, document.status]).toEqual([path, "succeeded"]);
      const text = execFileSync("git", ["-C", path, "show", `${document.commit}:add.js`]).toString();
      expect([path, text]).toEqual([path, expect.stringContaining("a + b")]);
    }
  });

  test("names a submodule and LFS content that are not there, and refuses to change what is linked", async () => {
    const library = project({ "lib.js": "module.exports = 1;\n" });
    const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${"a".repeat(64)}\nsize 10\n`;
    const repo = project({
      ...BROKEN_CALCULATOR,
      ".gitattributes": "*.bin filter=lfs -text\n",
      "model.bin": pointer,
    });
    repo.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", library.path, "vendor");
    repo.commitAll("with a submodule");
    const there = "node -e 'process.exit(require(\"./vendor/lib.js\") - 1)'";
    const arguments_ = ["run", "Fix the broken add", "--repo", repo.path, "--command", FIX];
    const { stdout } = await stack.antiphon([...arguments_, "--check", `${CHECK} && ${there}`]);
    expect(stdout).toContain(
      "not in the sandbox: content of Git LFS for model.bin; fetch it with `git lfs pull`",
    );
    expect(stdout).not.toContain("submodule");
    expect(stdout).toContain("succeeded");
    for (const [command, code, path] of [
      [`${FIX}; echo 2 > vendor/lib.js`, "ANT_PATCH_GITLINK", "vendor/lib.js"],
      [`${FIX}; echo content > model.bin`, "ANT_PATCH_LFS", "model.bin"],
    ] as const) {
      const { document } = await run(repo.path, command, "--check", CHECK, "--attempts", "1");
      expect(document.status).toBe("failed");
      expect(JSON.stringify(document)).toContain(code);
      expect(JSON.stringify(document)).toContain(path);
    }
    rmSync(join(repo.path, ".git", "modules"), { recursive: true });
    const absent = await stack.antiphon([...arguments_, "--check", CHECK, "--allow-dirty"]);
    expect(absent.stdout).toMatch(/not in the sandbox: submodule vendor at [0-9a-f]{12}; fetch it with/);
  });

  test("takes links as they are, and refuses a new or changed one by its path", async () => {
    const repo = project({ ...BROKEN_CALCULATOR, ".gitignore": "node_modules/\n", "dir/a.txt": "a\n" });
    symlinkSync("dir/a.txt", join(repo.path, "inside"));
    symlinkSync("dir", join(repo.path, "to-dir"));
    symlinkSync("/etc/hostname", join(repo.path, "outside"));
    symlinkSync("nowhere", join(repo.path, "dangling"));
    repo.commitAll("with links");
    const junk =
      "mkdir -p node_modules/x && ln -s /etc/passwd node_modules/link && mkfifo node_modules/fifo" +
      " && perl -MSocket -e 'socket(my $s, PF_UNIX, SOCK_STREAM, 0); bind($s, sockaddr_un(q(socket))) or die'";
    const links = "test $(cat inside to-dir/a.txt | wc -l) = 2 && test -L outside && test -L dangling";
    const fine = await run(repo.path, `${links} && ${FIX} && ${junk}`, "--check", `${links} && ${CHECK}`);
    expect(fine.document).toMatchObject({ status: "succeeded" });
    for (const [command, path, rule] of [
      [`${FIX}; ln -s dir new-link`, "new-link", "type-symlink"],
      [`${FIX}; ln -sfn /etc/passwd inside`, "inside", "type-symlink-moved"],
      [`${FIX}; mkfifo pipe`, "pipe", "type-fifo"],
      [`${FIX}; mkdir new && echo 1 > new/one && ln new/one new/two`, "new/", "type-hardlink"],
      [`${FIX}; rm inside`, "inside", "ANT_PATCH_SYMLINK"],
      [`${FIX}; rm inside && echo x > inside`, "inside", "ANT_PATCH_SYMLINK"],
    ] as const) {
      const { document } = await run(repo.path, command, "--check", CHECK, "--attempts", "1");
      const told = JSON.stringify(document);
      expect([document.status, told]).toEqual(["failed", expect.stringContaining(path)]);
      expect(told).toContain(rule);
    }
  });
});
