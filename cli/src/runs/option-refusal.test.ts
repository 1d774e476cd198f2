import { expect, test } from "vitest";
import { Failure } from "../failure.ts";
import { asFlag } from "./option-refusal.ts";

const refused = (path: string, code = "ANT_INTENT_OPTIONS", details: { remedy?: string } = {}): Failure =>
  new Failure(code, `${path}: must be <= 20, found 999`, { ...details, data: { path } });

test.each([
  ["/constraints/max_attempts", "--attempts"],
  ["/constraints/egress/mode", "--egress"],
  ["/inputs/workflow", "--workflow"],
  ["/inputs/checks/3", "--check"],
])("%s is the flag %s", (path, flag) => {
  expect(asFlag(refused(path))).toMatchObject({
    message: `${flag}: must be <= 20, found 999`,
    remedy: "antiphon run --help shows how",
    exitCode: 2,
    data: { path },
  });
});

test("an image that is not allowed is named as the flag, and that of a task by its place in the plan", () => {
  const code = "ANT_SANDBOX_IMAGE_NOT_ALLOWED";
  expect(asFlag(refused("/inputs/image", code)).message).toMatch(/^--image: /);
  expect(asFlag(refused("/inputs/tasks/0/image", code)).message).toMatch(/^\/inputs\/tasks\/0\/image: /);
});

test.each([["/inputs/agent/argv"], ["/inputs/nothing"], ["/goal"], [""]])(
  "%s has no flag, so the refusal is unchanged",
  (path) => {
    const failure = refused(path);
    expect(asFlag(failure)).toBe(failure);
  },
);

test("a remedy for just this refusal is kept", () => {
  const remedy = "Start the gateway with ANTIPHON_TOKENS.";
  expect(asFlag(refused("/constraints/approvals/needed", undefined, { remedy }))).toMatchObject({
    message: "--require-approval: must be <= 20, found 999",
    remedy,
  });
});

test("another error is unchanged", () => {
  const failure = refused("/inputs/workflow", "ANT_POLICY_REFUSED");
  expect(asFlag(failure)).toBe(failure);
});

test("a refused intent is a mistake of its caller, also under a code that a failed run has", () => {
  const told = { remedy: "Correct it.", data: { path: "/inputs/plan", httpStatus: 422 } };
  const failure = new Failure("ANT_PLAN_INVALID", "/inputs/plan: give a plan or tasks, not both", told);
  expect(failure.exitCode).toBe(1);
  expect(asFlag(failure)).toMatchObject({ ...told, code: "ANT_PLAN_INVALID", exitCode: 2 });
});
