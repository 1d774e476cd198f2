/** How a settled run ends: its status, its reason, and the final router contract with the evidence. */
import type { ClosedBody, RouterContractFinal } from "@antiphon/contracts";
import { sealOf } from "@antiphon/contracts/stored/seal";
import { isOver, type RunState, type TaskState } from "../state/run-state.ts";

type Ending = Pick<ClosedBody, "status" | "code" | "message" | "commit" | "landedOn">;
type Evidence = RouterContractFinal["evidence"][number];

/** A person must add a check or a grant, or look at the change and approve it; the checks can show nothing more. */
const NEEDS_REVIEW: ReadonlySet<string> = new Set([
  "ANT_VERIFY_CRITERION",
  "ANT_VERIFY_NO_CHECK",
  "ANT_VERIFY_OWN_TESTS",
  "ANT_VERIFY_PROVES_NOTHING",
  "ANT_VERIFY_TEST_AWARE",
  "ANT_VERIFY_UNTESTED",
]);

export function closingOf(run: RunState): ClosedBody {
  const ending = endingOf(run);
  return {
    ...ending,
    contract: finalContract(run, ending),
    seal: sealOf(run.digests),
  };
}

/** The branch every run lands on. It exists once a change has landed. */
export function runBranch(runId: string): string {
  return `refs/heads/antiphon/${runId}`;
}

function endingOf(run: RunState): Ending {
  const { intent } = run.facts;
  const landed = intent !== null && run.head !== intent.base.commit;
  const commit = landed ? run.head : null;
  const landedOn = landed ? runBranch(run.runId) : null;
  if (run.integration.kind === "landed") {
    const { commit: tip, ref } = run.integration;
    return { status: "succeeded", code: null, message: `landed on ${ref}`, commit: tip, landedOn: ref };
  }
  const lost = run.tasks.find((task) => task.phase.kind === "failed");
  if (run.routed !== null && run.tasks.length === 0) {
    return { status: "failed", code: "ANT_PLAN_INVALID", message: run.routed.reason, commit, landedOn };
  }
  const done = run.tasks.length > 0 && run.tasks.every((task) => isOver(task, run));
  if (run.cancel !== null && !(done && run.integration.kind === "none")) {
    const { code, by } = run.cancel;
    if (code !== undefined) return { status: "failed", code, message: run.cancel.reason, commit, landedOn };
    const reason = run.cancel.reason === "" ? "" : `: ${run.cancel.reason}`;
    return {
      status: "canceled",
      code: "ANT_RUN_CANCELED",
      message: `canceled by ${by}${reason}`,
      commit,
      landedOn,
    };
  }
  if (lost?.phase.kind === "failed") {
    const { code, message } = lost.phase;
    return { status: "failed", code, message: `${lost.planned.task.task_id} ${message}`, commit, landedOn };
  }
  if (run.integration.kind === "refused") {
    const { code, message } = run.integration;
    return {
      status: "failed",
      code,
      message: `not landed on the target branch: ${message}`,
      commit,
      landedOn,
    };
  }
  const message = landed ? `landed on ${runBranch(run.runId)}` : "done; there was no change to land";
  return { status: "succeeded", code: null, message, commit, landedOn };
}

function finalContract(run: RunState, ending: Ending): RouterContractFinal {
  const work = run.tasks.filter(({ planned }) => planned.gate === undefined);
  const done = work.filter((task) => task.phase.kind === "done").length;
  const succeeded = ending.status === "succeeded";
  return {
    status: succeeded ? "COMPLETE" : NEEDS_REVIEW.has(ending.code ?? "") ? "NEEDS_REVIEW" : "BLOCKED",
    workflow: run.routed?.workflow ?? "BUILD",
    tasks_completed: done,
    tasks_total: work.length,
    evidence: run.tasks.flatMap(evidenceOf),
    next_action: succeeded ? "none" : nextAction(ending),
  };
}

function evidenceOf(task: TaskState): Evidence[] {
  const id = task.planned.task.task_id;
  switch (task.phase.kind) {
    case "done":
    case "passed":
      return [{ type: "verification", result: "PASS", details: `${id}: ${task.phase.verdict.message}` }];
    case "failed":
      return [
        { type: "verification", result: "FAIL", details: `${id}: ${task.phase.code} ${task.phase.message}` },
      ];
    default:
      return [];
  }
}

function nextAction(ending: Ending): string {
  if (ending.status === "canceled") return "Run the intent again if it is still wanted";
  return `Resolve ${ending.code ?? "the failure"}, then run the intent again`;
}
