/** `verdict`: the result of the clean room. The Associate's own report is never an input. */
import { Type, type Static } from "typebox";
import { limits } from "../limits.ts";
import { CriteriaQuestion } from "../plans/criteria-question.ts";
import { CheckOutcome } from "./check-outcome.ts";
import { ApprovalNeed } from "../runs/approvals.ts";
import { CommitId, ErrorCode, TaskId } from "../shapes/ids.ts";
import { EvidenceRef } from "../shapes/refs.ts";
import { closed, nullable, oneOf } from "../shapes/shape.ts";

export const Verdict = oneOf(["PASS", "FAIL", "FLAKY", "UNVERIFIABLE"]);
export type Verdict = Static<typeof Verdict>;

export const Proves = oneOf(["nothing", "regression", "fail-to-pass"], {
  description:
    "What passing checks prove about the change. `fail-to-pass`: they fail without it. `regression`: they also pass without it and depend on its files, or they were not tried without it. `nothing`: there are none, or they also pass without its files, or pass only with files that the change adds on the side that judges it.",
});
export type Proves = Static<typeof Proves>;

export const ReplayedChange = closed(
  {
    task: TaskId,
    head: { ...CommitId, description: "The commit before it on the moved branch." },
    commit: CommitId,
    tree: CommitId,
    gates: Type.Array(TaskId, {
      minItems: 1,
      maxItems: 8,
      description: "Tasks that judge it again before it lands.",
    }),
  },
  { description: "The change of a task as it stands on a target branch that moved." },
);
export type ReplayedChange = Static<typeof ReplayedChange>;

export const VerdictBody = closed(
  {
    verdict: Verdict,
    code: nullable(ErrorCode, {
      description: "Why it is not PASS, or which code a grant overrode; null on a plain PASS.",
    }),
    message: Type.String(),
    proves: Type.Optional(Proves),
    approval: Type.Optional(ApprovalNeed),
    gates: Type.Optional(
      Type.Array(TaskId, {
        maxItems: 8,
        description: "Tasks that judge the change before it lands, in their order. Absent: none.",
      }),
    ),
    replayed: Type.Optional(
      Type.Array(ReplayedChange, {
        maxItems: limits.tasksPerRun,
        description:
          "Only of a whole run whose target branch moved: the changes that skills judge again, in their order.",
      }),
    ),
    asks: Type.Optional(
      Type.Array(CriteriaQuestion, {
        minItems: 1,
        maxItems: 64,
        description:
          "Only before the first attempt: what a person is asked, because nothing would prove a change. The task waits for the answers, and ends with the verdict's code without them. A Director that does not know the field ends the task at once.",
      }),
    ),
    trials: Type.Optional(
      closed(
        { change: Type.Integer({ minimum: 0 }), base: Type.Integer({ minimum: 0 }) },
        {
          description:
            "How often the checks ran with and without the change. The evidence holds every trial.",
        },
      ),
    ),
    checks: Type.Array(CheckOutcome, {
      description: "Checks on base plus patch: of the first trial that failed, else of the first.",
    }),
    baseChecks: Type.Array(CheckOutcome, { description: "Checks on the base alone (fail-to-pass)." }),
    head: CommitId,
    commit: nullable(CommitId, { description: "The commit the Director built; null if it built none." }),
    tree: nullable(CommitId),
    evidence: nullable(EvidenceRef),
  },
  { description: "The result of the clean room. Written by the Director." },
);
export type VerdictBody = Static<typeof VerdictBody>;
