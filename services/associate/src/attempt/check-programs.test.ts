import { expect, test } from "vitest";
import type { SandboxOutcome } from "@antiphon/contracts";
import { programSteps, unstartable } from "./check-programs.ts";

const looked = (exitCode: number | null, tail = "", over: object = {}): SandboxOutcome =>
  ({
    outcome: "completed",
    steps: [{ id: "programs", exitCode, stdout: { tail, blob: null } }],
    ...over,
  }) as unknown as SandboxOutcome;

const CHECKS = [
  "npm test",
  "  pytest -q",
  "npm run lint",
  "./check.sh",
  "A=1 make",
  "(cd x && make)",
  "'my tool'",
];

test("the first word of a check is looked for once; paths, assignments and compounds are left alone", () => {
  const [step] = programSteps(CHECKS, { A: "1" }, 7);
  expect(step?.argv.slice(4)).toEqual(["npm", "pytest"]);
  expect(step).toMatchObject({ continueOnFailure: false, env: { A: "1" }, timeoutMs: 7 });
  expect(programSteps(["./check.sh"], {}, 7)).toEqual([]);
});

test("a missing program is named with its check", () => {
  expect(unstartable(CHECKS, looked(1, "pytest\n"))).toEqual({
    kind: "stopped",
    code: "ANT_VERIFY_NO_PROGRAM",
    message:
      "the sandbox has no program pytest, so the check `pytest -q` cannot start; the agent was not started",
  });
});

test.each([
  ["all are there", looked(0)],
  ["the shell itself is missing", looked(127)],
  ["the sandbox ended meanwhile", looked(1, "pytest", { outcome: "timeout" })],
  ["no check has that program", looked(1, "other")],
])("nothing is said when %s", (_, outcome) => {
  expect(unstartable(CHECKS, outcome)).toBeNull();
});
