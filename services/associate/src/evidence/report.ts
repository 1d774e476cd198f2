/**
 * Makes the report (AssociateResult, seed 000) from the facts of an attempt.
 *
 * The status is `failed` when a command, a check or the change itself is at fault, and `needs_input` exactly when there are
 * questions. `verify.status` is `unknown` when no check ran, unless the agent vouches for itself; the clean room does not
 * rely on either.
 */
import { remedyFor } from "@antiphon/contracts";
import type { AssociateResult, ErrorCode, EvidenceManifest } from "@antiphon/contracts";
import type { AttemptFacts } from "./attempt-facts.ts";
import { failedCheck, faultOf, listOf, short } from "./attempt-fault.ts";
import { runsOf, verifyOf } from "./verification.ts";

export interface Report {
  readonly result: AssociateResult;
  /** Why the status is failed; null otherwise. */
  readonly code: ErrorCode | null;
  readonly decision: Extract<EvidenceManifest["decision"], "propose" | "needs_input" | "fail">;
}

export function reportOf(facts: AttemptFacts): Report {
  const { change, wants } = facts;
  const { code, decision, ...told } = endOf(facts);
  const result: AssociateResult = {
    task_id: facts.taskId,
    diff: wants.diff && change !== null ? { format: "unified", content: change.patch } : null,
    files_changed: wants.filesChanged ? [...(change?.files ?? [])] : [],
    commands_run: [...runsOf(facts.work, "work"), ...runsOf(facts.checks, "checks")],
    verify: verifyOf(facts),
    ...told,
  };
  return { result, code, decision };
}

type End = Omit<Report, "result"> &
  Pick<AssociateResult, "status" | "summary" | "questions" | "suggested_next">;

function endOf(facts: AttemptFacts): End {
  if (facts.ending.kind === "asks") {
    const questions = [...facts.ending.questions];
    return {
      code: null,
      decision: "needs_input",
      status: "needs_input",
      summary: `Waits for an answer: ${questions.join(" / ")}`,
      questions,
      suggested_next: "Answer the question, and the task goes on.",
    };
  }
  const fault = faultOf(facts);
  if (fault === null) {
    const summary = successOf(facts);
    return { code: null, decision: "propose", status: "ok", summary, questions: [], suggested_next: null };
  }
  const { code, message: summary } = fault;
  const suggested_next = `${code}: ${remedyFor(code, facts.runId)}`;
  return { code, decision: "fail", status: "failed", summary, questions: [], suggested_next };
}

function successOf(facts: AttemptFacts): string {
  const changed = facts.change === null ? "no file changed" : `changed ${listOf(facts.change.files)}`;
  const checked = !facts.selfVerified
    ? "not verified here"
    : facts.checks.length === 0
      ? "no check to verify with"
      : (failedHere(facts) ?? `${facts.checks.map((check) => short(check.command)).join(", ")} passes`);
  const seen = `${facts.note}; ${changed}; ${checked}.`;
  return facts.message === null ? seen : `${facts.message}\n\n${seen}`;
}

/** The clean room prepares an environment from the changed files and decides. */
function failedHere(facts: AttemptFacts): string | null {
  const check = failedCheck(facts);
  if (check === undefined) return null;
  return `${short(check.command)} fails in the environment of the base, and the change alters ${listOf(facts.setupFiles)}`;
}
