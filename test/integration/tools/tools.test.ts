/** Load, chaos, bench and simulation check their command line before they start. */
import { execFile } from "node:child_process";
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
