/** The completion scripts in real shells. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ANTIPHON, run } from "../../e2e/support/program.ts";

const place = mkdtempSync(join(tmpdir(), "antiphon-completion-"));
let gateway: Server;
let env: Record<string, string>;

beforeAll(async () => {
  mkdirSync(join(place, "bin"));
  mkdirSync(join(place, "work/folder"), { recursive: true });
  writeFileSync(join(place, "work/fix.diff"), "");
  symlinkSync(ANTIPHON, join(place, "bin/antiphon"));
  const runs = [
    { runId: "run_aaa1", status: "running", goal: 'Fix "it": $(now)' },
    { runId: "run_bbb2", status: "failed", goal: "Try" },
  ];
  gateway = createServer((_request, response) => response.end(JSON.stringify({ runs })));
  await new Promise<void>((ready) => gateway.listen(0, "127.0.0.1", ready));
  env = {
    PATH: `${join(place, "bin")}:${process.env.PATH ?? ""}`,
    HOME: place,
    ANTIPHON_GATEWAY_URL: `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`,
  };
});
afterAll(async () => {
  await new Promise((done) => gateway.close(done));
  rmSync(place, { recursive: true, force: true });
});

async function shell(program: string, args: readonly string[]): Promise<string[]> {
  const { code, stdout, stderr } = await run(program, args, { env, cwd: join(place, "work") });
  expect(stderr).toBe("");
  expect(code).toBe(0);
  return stdout
    .split("\n")
    .filter((line) => line !== "")
    .sort();
}

/** What bash offers after these words; the last one is being typed. */
function bash(...words: string[]): Promise<string[]> {
  const script = `source <(antiphon completion bash)
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
_antiphon
printf '%s\\n' "\${COMPREPLY[@]}"`;
  return shell("bash", ["-c", script, "bash", "antiphon", ...words]);
}

/** zsh's own completion functions, with the one that shows candidates replaced by one that prints them. */
function zsh(...words: string[]): Promise<string[]> {
  const script = `autoload -U compinit && compinit -u -D
source <(antiphon completion zsh)
_describe() { print -rl -- "\${(@P)2%%:*}" }
_files() { print -r -- "files $*" }
words=("$@"); CURRENT=$#
_antiphon`;
  return shell("zsh", ["-f", "-c", script, "zsh", "antiphon", ...words]);
}

async function fish(...words: string[]): Promise<string[]> {
  const script = "antiphon completion fish | source; complete --do-complete $argv[1]";
  const lines = await shell("fish", ["--no-config", "-c", script, ["antiphon", ...words].join(" ")]);
  return lines.map((line) => line.split("\t")[0] ?? "");
}

describe.each([
  ["bash", bash],
  ["zsh", zsh],
  ["fish", fish],
] as const)("%s", (name, complete) => {
  /** Only bash compares with the beginning of the word by itself here. */
  const beginning = (words: string[], begin: string): string[] =>
    words.filter((word) => word.startsWith(begin));

  test("keeps `run` and `runs` apart", async () => {
    expect(beginning(await complete("run"), "run")).toEqual(["run", "runs"]);
    expect(await complete("runs", "--l")).toContain("--limit");
    expect(await complete("run", "--l")).not.toContain("--limit");
    expect(await complete("run", "--l")).toContain("--land");
  });

  test("completes run ids, error codes and values of options", async () => {
    expect(await complete("get", "run_")).toEqual(["run_aaa1", "run_bbb2"]);
    expect(beginning(await complete("explain", "ANT_PATCH_PRO"), "ANT_PATCH_PRO")).toEqual([
      "ANT_PATCH_PROTECTED",
    ]);
    expect(beginning(await complete("run", "x", "--egress", "g"), "g")).toEqual(["git+pkg"]);
    expect(beginning(await complete("dev", "--sandbox", ""), "d")).toEqual(["docker"]);
  });

  test("leaves files and directories to the shell", async () => {
    const patch = await complete("run", "x", "--patch", "");
    const repo = await complete("run", "x", "--repo", "");
    if (name === "zsh") return expect([patch, repo]).toEqual([["files "], ["files -/"]]);
    expect(patch.map((path) => path.replace(/\/$/, ""))).toEqual(["fix.diff", "folder"]);
    expect(repo.map((path) => path.replace(/\/$/, ""))).toEqual(["folder"]);
  });
});
