import { expect, it } from "vitest";
import { dispatchOf } from "../testing/dispatch.fixture.ts";
import { promptOf } from "./prompt.ts";

it("tells the task, its checks, earlier failures with the end of their output, and answers", () => {
  const checks = [
    { command: "npm test", exitCode: 1, timedOut: false, durationMs: 1, tail: "expected 3, got 2" },
  ];
  const feedback = [{ epoch: 1, code: "ANT_VERIFY_CHECK_FAILED", message: "npm test failed", checks }];
  const base = dispatchOf();
  const prompt = promptOf(
    {
      ...base,
      feedback: feedback as unknown as typeof base.feedback,
      answers: [{ question: "Which?", answer: "Blue" }],
    },
    2,
    { previousDiff: "--- a/x\n+++ b/x\n" },
  );
  expect(prompt.startsWith(base.task.instruction)).toBe(true);
  for (const command of base.task.verify_profile.commands) expect(prompt).toContain(`- ${command}`);
  expect(prompt).toContain("Attempt 1 was rejected");
  expect(prompt).toContain("$ npm test  (exit 1)\nexpected 3, got 2");
  expect(prompt).toContain("which is not applied here:\n--- a/x\n+++ b/x\n");
  const goesOn = promptOf({ ...base, feedback: feedback as unknown as typeof base.feedback }, 2, {
    previousDiff: "+x\n",
    isApplied: true,
  });
  expect(goesOn).toContain("starts from the files of the attempt before");
  expect(goesOn).toContain("which is applied here:\n+x\n");
  expect(promptOf(base, 2, { previousDiff: "x".repeat(40_000) })).not.toContain("xxx");
  expect(prompt).toContain("You asked: Which?\nThe answer: Blue");
  expect(prompt).not.toContain("as you left them when you asked");
  const standing = { previousDiff: "+x\n", isApplied: true, hasAsked: true };
  expect(promptOf({ ...base, answers: [{ question: "Which?", answer: "Blue" }] }, 2, standing)).toContain(
    "The answer: Blue\n\nThe files are as you left them when you asked.",
  );
});

it("names the paths that it must not change, and no command to a task without a shell", () => {
  const base = dispatchOf();
  const prompt = promptOf({ ...base, scope_except: ["src/page/generated.ts"] }, 1, { previousDiff: null });
  expect(prompt).toContain("Do not change these paths:\n- src/page/generated.ts");
  const task = { ...base.task, allowed_tools: ["read_file", "edit_file"] };
  const without = promptOf({ ...base, task }, 1, { previousDiff: null });
  expect(without).not.toContain("antiphon-ask");
  expect(without).toContain("You have no shell");
  for (const said of [prompt, without]) expect(said).toContain("on the files as you leave them");
  expect(without).not.toContain("Do not change these paths:");
});

it("says where a new test belongs, and which protected paths are granted", () => {
  const base = dispatchOf();
  const prompt = promptOf(base, 1, { previousDiff: null });
  expect(prompt).toContain("put a new test into a new file");
  expect(prompt).not.toContain("These protected paths may be changed:");
  const granted = promptOf({ ...base, grants: ["test/**"] }, 1, { previousDiff: null });
  expect(granted).toContain("These protected paths may be changed:\n- test/**");
});

it("fits into one argument of a program", () => {
  const base = dispatchOf();
  const task = { ...base.task, acceptance_criteria: Array.from({ length: 64 }, () => "x".repeat(2048)) };
  expect(promptOf({ ...base, task }, 1, { previousDiff: null }).length).toBeLessThanOrEqual(96 * 1024);
  const check = { command: "t", exitCode: 1, timedOut: false, durationMs: 1, stdout: null, stderr: null };
  const checks = Array.from({ length: 20 }, () => ({ ...check, tail: "x".repeat(8192) }));
  const feedback = [{ epoch: 1, code: "ANT_VERIFY_CHECK_FAILED", message: "failed", checks }] as const;
  const told = promptOf({ ...base, feedback: [{ ...feedback[0] }] }, 2, { previousDiff: null });
  expect(told.length).toBeLessThanOrEqual(96 * 1024);
  expect(told).toContain("Leave the tests that exist");
});

it("tells a skill to judge the change and to edit nothing, without the rules of an author", () => {
  const base = dispatchOf();
  const diff = { bucket: "b", name: "n", digest: `sha256-${"A".repeat(43)}`, bytes: 1 };
  const gate = { skill: "reviewer", task: "T-001", attempt: 1, commit: "c".repeat(40), diff } as const;
  const prompt = promptOf({ ...base, gate }, 1, { previousDiff: null, judged: "+++ b/add.js\n" });
  expect(prompt).toContain("The change to judge:\n+++ b/add.js\n");
  expect(prompt).toContain("change no other one");
  expect(prompt).not.toContain("Edit the files");
});
