/** The agent `opencode-server` with a server that leaks, in the place of OpenCode's: a real process, whose memory grows. */
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { CompileAttempt } from "../../support/compile-attempt.ts";

const STAND_IN = join(import.meta.dirname, "../../support/leaking-opencode.mjs");
const TEST_MS = 60_000;
/** Node itself takes about 50. */
const MOST_MIB = 200;
const STEPS = 14;
const LEAK_MIB = 40;
const LEAK = { LEAK_MIB: String(LEAK_MIB), LEAK_STEPS: String(STEPS), LEAK_TOOL_MS: "50" };

let place: string;

beforeAll(() => {
  place = mkdtempSync(join(tmpdir(), "antiphon-opencode-memory-"));
  const programs = join(place, "node_modules/.bin");
  mkdirSync(programs, { recursive: true });
  writeFileSync(join(programs, "opencode"), `#!/bin/sh\n"${process.execPath}" "${STAND_IN}" "$@"\n`);
  chmodSync(join(programs, "opencode"), 0o755);
});
afterAll(() => rmSync(place, { recursive: true, force: true }));

const sizesIn = ({ events }: CompileAttempt): number[] =>
  events.flatMap(({ event, mib }) => (event === "server-too-large" && mib !== undefined ? [mib] : []));
const stepsOf = ({ root }: CompileAttempt): string[] =>
  readFileSync(join(root, "steps.txt"), "utf8").trim().split("\n");
/** None was cut off, and none was done again. */
const wholeSteps = (steps: number): string[] => Array.from({ length: steps }, () => ["begun", "done"]).flat();

test(
  "a server that leaks is started again each time that it is too large, its session goes on, and no step is done twice",
  async () => {
    const attempt = new CompileAttempt(place);
    const env = { ...LEAK, OPENCODE_MOST_MIB: String(MOST_MIB) };
    expect([await attempt.run({ env }), attempt.stderr]).toEqual([0, ""]);
    expect(attempt.kept.output).toMatchObject({ plan: { nodes: [] } });
    expect(stepsOf(attempt)).toEqual(wholeSteps(STEPS));
    const sizes = sizesIn(attempt);
    expect(sizes.length).toBeGreaterThanOrEqual(2);
    expect(attempt.starts).toBe(sizes.length + 1);
    for (const mib of sizes) expect(mib).toBeGreaterThan(MOST_MIB);
    // It would have taken all of that without.
    expect(Math.max(...sizes)).toBeLessThan(STEPS * LEAK_MIB);
    const steps = attempt.events.filter(({ event }) => event === "step");
    expect(steps).toHaveLength(STEPS);
  },
  TEST_MS,
);

test(
  "a tool that runs is not cut off by the bound, up to twice of it",
  async () => {
    const attempt = new CompileAttempt(place);
    // Above the bound after the first step, and in a tool then for longer than two looks.
    const env = { ...LEAK, LEAK_STEPS: "3", LEAK_TOOL_MS: "2500", OPENCODE_MOST_MIB: "90" };
    expect([await attempt.run({ env }), attempt.stderr]).toEqual([0, ""]);
    expect(stepsOf(attempt)).toEqual(wholeSteps(3));
  },
  TEST_MS,
);

test(
  "a server that is far too large from its start ends the attempt, which says why",
  async () => {
    const attempt = new CompileAttempt(place);
    const env = { ...LEAK, LEAK_TOOL_MS: "60000", OPENCODE_MOST_MIB: "10" };
    expect(await attempt.run({ env })).toBe(1);
    expect(attempt.stderr).toContain("hung, died or grew too large 4 times");
    expect(sizesIn(attempt)).toHaveLength(4);
  },
  TEST_MS,
);
