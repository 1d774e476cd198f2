import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { leftOut } from "./left-out.ts";

let repo: string;
const write = (name: string, text = "x\n"): void => writeFileSync(join(repo, name), text);

beforeEach(() => {
  repo = mkdtempSync(join(tmpdir(), "antiphon-left-out-"));
  execFileSync("git", ["init", "--quiet", repo]);
});
afterEach(() => rmSync(repo, { recursive: true }));

it("names untracked files and directories, and not those that are ignored or known", async () => {
  write(".gitignore", "*.log\n");
  write("known.txt");
  execFileSync("git", ["-C", repo, "add", ".gitignore", "known.txt"]);
  write("a.log");
  expect(await leftOut(repo)).toBeNull();
  write("new test.js");
  mkdirSync(join(repo, "lib"));
  write("lib/one.js");
  write("lib/two.js");
  expect(await leftOut(repo)).toBe("left out, because git does not know it yet: lib/, new test.js");
});

it("counts many, and prints no character that moves the cursor", async () => {
  for (const name of ["a\u001b[2J", "b", "c", "d", "e"]) write(name);
  expect(await leftOut(repo)).toBe(
    'left out, because git does not know it yet: "a\\u001b[2J", b, c and 2 more',
  );
});

it("says nothing about a place that is no repository here", async () => {
  expect(await leftOut(join(repo, "nowhere"))).toBeNull();
  expect(await leftOut("https://git.example/app.git")).toBeNull();
});
