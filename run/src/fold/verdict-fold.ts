/**
 * What the Director's word makes of a task: a verdict, of which one that passes waits for decisions, and the landing that
 * follows them.
 */
import type { Asked } from "@antiphon/contracts/runs/step-approval";
import type { RunPolicy, TaskState } from "../state/run-state.ts";
import { decided } from "./approval-fold.ts";
import type { RecordOf } from "./task-record.ts";
import { failed, reject, to, withEvidence, type PhaseOf, type TaskStep } from "./task-step.ts";

/** Verdicts that another attempt cannot improve: a check or a grant is missing, so a better patch does not help. */
const FINAL_CODES: ReadonlySet<string> = new Set([
  "ANT_SERVICE_FAILED",
  "ANT_VERIFY_CRITERION",
  "ANT_VERIFY_NO_CHECK",
  "ANT_VERIFY_PROVES_NOTHING",
]);

type Verdict = RecordOf<"verdict">;

/** A verdict about a proposal. */
export function afterVerdict(
  task: TaskState,
  { epoch, base, report }: PhaseOf<"proposed">,
  { body, digest, at }: Verdict,
  policy: RunPolicy,
  rule: Asked,
): TaskStep {
  const seen = withEvidence(task, body.evidence);
  if (body.verdict === "PASS") {
    if (body.commit === null)
      return to(seen, { kind: "done", epoch, commit: null, left: base, verdict: body });
    const { gates = [] } = body;
    const verified = { epoch, report, at, verdict: body, digest };
    return decided(seen, { kind: "awaiting", ...verified, approvedBy: [], gates }, rule);
  }
  const { message, checks } = body;
  const code = body.code ?? "ANT_VERIFY_CHECK_FAILED";
  if (FINAL_CODES.has(code)) return to(seen, failed(epoch, code, message));
  return reject(seen, policy, { epoch, code, message, checks });
}

/**
 * The Director could not dispatch the task: the repository is gone or cannot be set up, no agent has a model, or nothing would
 * prove a change. Only for the last of these it may ask.
 */
export function afterNoDispatch(
  task: TaskState,
  { epoch }: PhaseOf<"open">,
  { body, at }: Verdict,
): TaskStep {
  const { code, message, evidence, asks } = body;
  if (asks === undefined)
    return to(withEvidence(task, evidence), failed(epoch, code ?? "ANT_INTERNAL", message));
  const criteria = { asks, code: code ?? "ANT_VERIFY_NO_CHECK", message };
  return to(task, { kind: "asking", epoch, at, questions: asks.map(({ question }) => question), criteria });
}

/** The branch holds the commit already, also where these rules do not know why the Director landed it. */
export function afterLanding(
  task: TaskState,
  { epoch, verdict }: PhaseOf<"accepted" | "awaiting">,
  { body }: RecordOf<"landing">,
): TaskStep {
  if (body.kind === "refused") return to(task, failed(epoch, body.code, body.message));
  const { commit } = body;
  return to(task, { kind: "done", epoch, commit, left: commit, verdict });
}
