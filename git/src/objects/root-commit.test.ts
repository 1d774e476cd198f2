import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { rootCommit } from "./root-commit.ts";

const made: string[] = [];
afterEach(() => {
  for (const path of made.splice(0)) rmSync(path, { recursive: true, force: true });
});

it("a commit without a parent is one that git reads, and the same files and time give the same one", () => {
  const at = new Date("2026-01-02T03:04:05.678Z");
  const files = { b: "two\n", a: "one\n", same: "one\n" };
  const { commit, pack } = rootCommit(files, "Read", at);
  expect(rootCommit(files, "Read", at)).toEqual({ commit, pack });
  const repo = mkdtempSync(join(tmpdir(), "antiphon-root-"));
  made.push(repo);
  const git = (args: string[], input?: Buffer): string =>
    execFileSync("git", ["-C", repo, ...args], input === undefined ? {} : { input }).toString();
  git(["init", "--quiet", "--bare"]);
  git(["index-pack", "--stdin", "--strict"], pack);
  expect(git(["ls-tree", "--name-only", commit])).toBe("a\nb\nsame\n");
  expect(git(["show", `${commit}:b`])).toBe("two\n");
  expect(git(["log", "--format=%an %aI %s %P", commit])).toBe("Antiphon 2026-01-02T03:04:05+00:00 Read \n");
});
