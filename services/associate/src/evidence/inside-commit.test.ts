import { expect, test } from "vitest";
import type { SandboxOutcome } from "@antiphon/contracts";
import { insideMessage, MESSAGE_STEP } from "./inside-commit.ts";
import { output } from "../testing/dispatch.fixture.ts";

function outcomeWith(message: string, id = MESSAGE_STEP): SandboxOutcome {
  const step = { id, exitCode: 0, timedOut: false, durationMs: 1, stderr: output("") };
  return {
    outcome: "completed",
    code: null,
    message: "",
    steps: [{ ...step, stdout: output(message) }],
    changes: null,
    meta: { bootMs: 1, provider: "docker", node: "sr_1", image: "i", containerId: "c" },
  };
}

test("the message of the agent's commit is plain text", () => {
  const said = "Parse leap days  \r\n\r\n\n\nFebruary has 29 days.\n";
  expect(insideMessage(outcomeWith(said))).toBe("Parse leap days\n\nFebruary has 29 days.");
});

test("without a commit there is no message", () => {
  expect(insideMessage(null)).toBeNull();
  expect(insideMessage(outcomeWith(" \n\t\n"))).toBeNull();
  expect(insideMessage(outcomeWith("looks like one", "work-1"))).toBeNull();
});

test("a hostile message can neither rewrite a terminal nor fill a record", () => {
  const message = insideMessage(outcomeWith(`Fix\u001b]0;owned\u0007\u202e${"x".repeat(5000)}`)) ?? "";
  expect(message).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
  expect(message.length).toBeLessThanOrEqual(1500);
});
