import type { AgentSpec } from "@antiphon/contracts";
import { openRun, outstanding, replay } from "@antiphon/run";
import { planned, RecordLog } from "@antiphon/run/testing/record-log";
import { runOptions } from "@antiphon/contracts/testing/records";
import { expect, test } from "vitest";
import { POLICY } from "../testing/directing.ts";
import { requireOtherAgent } from "./futile-attempt.ts";
import { refusalOf } from "./refusal.ts";

const T1 = "T-001";
const CAUSE = { seq: 1, digest: "sha256:0" };
const other: AgentSpec = { kind: "command", argv: ["other"] };

function failedOnce(
  code: string,
  next_agents: AgentSpec[] = [],
  kind: "edit_repo" | "inspect" | "git" = "edit_repo",
  { agent }: { readonly agent: AgentSpec } = runOptions(),
) {
  const { task } = planned(T1);
  const log = new RecordLog().opened([{ ...planned(T1), task: { ...task, kind }, agent }], { next_agents });
  log.dispatched(T1).claimed(T1).reported(T1, 1, "failed", code);
  const folded = () => replay(openRun(log.runId, POLICY), log.records);
  const [effect] = outstanding(folded());
  if (effect?.kind !== "dispatch") throw new Error("nothing to dispatch");
  const tried = () => requireOtherAgent(effect.task, { agent, next_agents });
  return { log, folded, effect, tried };
}

test.each(["ANT_EGRESS_HOST", "ANT_EGRESS_MODEL", "ANT_EGRESS_NO_KEY"])(
  "an agent without a model (%s) is not tried again, and the refused dispatch ends the task with that code",
  (code) => {
    const { log, folded, effect, tried } = failedOnce(code);
    let thrown: unknown = null;
    try {
      tried();
    } catch (error) {
      thrown = error;
    }
    const refusal = refusalOf(folded().context, effect, CAUSE, thrown);
    if (refusal?.type !== "verdict") throw new Error("not refused");
    log.add("verdict", T1, refusal.epoch, refusal.body);
    expect(folded().context.tasks[0]?.phase).toEqual({
      ...{ kind: "failed", epoch: 2, code, message: "it is failed" },
    });
  },
);

test("another agent of the run, and an agent that failed for another reason, are tried", () => {
  expect(failedOnce("ANT_EGRESS_MODEL", [other]).tried).not.toThrow();
  expect(failedOnce("ANT_AGENT_FAILED").tried).not.toThrow();
});

test("the last agent of a run is not tried again", () => {
  const { log, folded } = failedOnce("ANT_AGENT_FAILED", [other]);
  log.dispatched(T1, 2).claimed(T1, 2).reported(T1, 2, "failed", "ANT_EGRESS_NO_KEY");
  const [task] = folded().context.tasks;
  const { agent } = runOptions();
  expect(() => requireOtherAgent(task!, { agent, next_agents: [other] })).toThrow("it is failed");
});

test("a git task whose change may not be made is not tried again, and one whose check failed is", () => {
  for (const code of ["ANT_PATCH_PROTECTED", "ANT_PATCH_SCOPE", "ANT_PATCH_POLICY"]) {
    expect(failedOnce(code, [other], "git").tried).toThrow(expect.objectContaining({ code }));
    expect(
      failedOnce(code, [], "edit_repo", { agent: other }).tried,
      "an agent may do otherwise",
    ).not.toThrow();
  }
  expect(failedOnce("ANT_VERIFY_CHECK_FAILED", [], "git").tried).not.toThrow();
});

test("a scripted agent that changed files where it may not is not tried again, unless its commands may do otherwise", () => {
  const code = "ANT_TASK_MODIFIED_FILES";
  const doing = (...commands: string[]) => ({ agent: { kind: "scripted" as const, commands } });
  const { tried } = failedOnce(code, [], "inspect", doing("echo hello > a.txt"));
  expect(tried).toThrow("it is failed; another attempt would make the same change");
  expect(tried).toThrow(expect.objectContaining({ code }));
  for (const command of ['echo "$ANTIPHON_EPOCH" > a.txt', "antiphon-ask 'which file?'"])
    expect(failedOnce(code, [], "inspect", doing(command)).tried).not.toThrow();
  expect(failedOnce(code, [other], "inspect", doing("true")).tried).not.toThrow();
  expect(failedOnce(code, [], "inspect", { agent: other }).tried, "a program may do otherwise").not.toThrow();
  for (const its of ["ANT_VERIFY_CHECK_FAILED", "ANT_AGENT_FAILED"])
    expect(failedOnce(its, [], "edit_repo", doing("./generate.sh")).tried).not.toThrow();
});

test("a scripted agent whose change a rule refused is not tried again, unless the base decides or its commands may do otherwise", () => {
  const doing = (...commands: string[]) => ({ agent: { kind: "scripted" as const, commands } });
  const tried = (code: string, command: string, next: AgentSpec[] = []) =>
    failedOnce(code, next, "edit_repo", doing(command)).tried;
  for (const code of ["ANT_PATCH_PROTECTED", "ANT_PATCH_SCOPE", "ANT_PATCH_POLICY", "ANT_PATCH_SYMLINK"]) {
    expect(tried(code, "echo 1 > check.sh")).toThrow(expect.objectContaining({ code }));
    expect(tried(code, 'sh do.sh "$ANTIPHON_EPOCH"')).not.toThrow();
    expect(tried(code, "echo 1 > check.sh", [other])).not.toThrow();
  }
  for (const code of ["ANT_PATCH_DOES_NOT_APPLY", "ANT_PATCH_EMPTY"])
    expect(tried(code, "git mv a b")).not.toThrow();
});
