/** Load, chaos, bench and simulation check their command line before they start. */
import { execFile, execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { builtProgram } from "../../support/built-program.ts";
import { atNight } from "../../support/night.ts";

const TEST = new URL("../../", import.meta.url);

interface Answer {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function ask(tool: string, ...args: string[]): Promise<Answer> {
  const program = await builtProgram(new URL(tool, TEST));
  const running = promisify(execFile)(process.execPath, [program, ...args]);
  return running.then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    (error: unknown) => error as Answer,
  );
}

describe.each([
  ["load/main.ts", ["--runs", "many"], "--runs takes a whole number from 1 to 1000000"],
  ["load/main.ts", ["sse", "--clients", "many"], "--clients takes a whole number from 1 to 1024"],
  ["chaos/rig/main.ts", ["--servers", "3"], "--servers goes with --runs"],
  ["chaos/sandbox/main.ts", ["--attempts", "0"], "--attempts takes a whole number from 1 up"],
  ["simulation/main.ts", ["--seeds", "-1"], "'--seeds' argument is ambiguous"],
])("test/%s", (tool, wrong, why) => {
  it("prints its usage", async () => {
    const { code, stdout } = await ask(tool, "--help");
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^usage: .+\n/)]);
  });

  it.each<[args: string[], said: string]>([
    [wrong, why],
    ...atNight<[string[], string]>([["--runz", "5"], "Unknown option '--runz'"]),
  ])("answers %j with what is wrong, and does nothing", async (args, said) => {
    const { code, stdout, stderr } = await ask(tool, ...args);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(said);
    expect(stderr).toContain("--help");
    expect(stderr).not.toContain("    at ");
  });
});

describe("the bench of a repository's commits", () => {
  it("judges each with the modes that its files have in the repository, whatever they begin with", async () => {
    const clone = mkdtempSync(join(tmpdir(), "antiphon-commits-"));
    const git = (...args: string[]): Buffer =>
      execFileSync("git", ["-C", clone, "-c", "user.name=a", "-c", "user.email=a@b", ...args]);
    const put = (path: string, content: string, mode: number): void => {
      writeFileSync(join(clone, path), content);
      chmodSync(join(clone, path), mode);
    };
    try {
      git("init", "-q");
      put("tool", "echo a tool without a first line of its own\n", 0o755);
      put("note.sh", "#!/bin/sh\n", 0o644);
      put("add.js", "module.exports = (a, b) => a - b;\n", 0o644);
      put("test.js", 'if (require("./add.js")(2, 2) !== 4) throw new Error("2 + 2");\n', 0o644);
      git("add", "-A");
      git("commit", "-qm", "base");
      put("add.js", "module.exports = (a, b) => a + b;\n", 0o644);
      put("other", "echo another one\n", 0o755);
      git("add", "-A");
      git("commit", "-qm", "fix");
      const check = "test -x tool && test ! -x note.sh && node test.js && test -x other";
      const { code, stdout } = await ask("bench/main.ts", "commits", clone, check, "1");
      expect([code, stdout]).toEqual([0, expect.stringContaining("1 of 1 land by themselves")]);
    } finally {
      rmSync(clone, { recursive: true });
    }
  });
});
