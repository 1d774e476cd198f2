/** What waits for a person: a change to be approved, or questions of an agent. */
import type { RunStep, RunViewModel } from "@antiphon/contracts";
import { useState, type ReactElement } from "react";
import { post } from "../api/gateway.ts";
import { Action } from "../screen/action.tsx";
import { harmless } from "../screen/harmless.ts";

interface DecisionProps {
  readonly runId: string;
  readonly view: RunViewModel;
  readonly requester: string;
}

export function Decision({ runId, view, requester }: DecisionProps): ReactElement {
  return (
    <>
      {view.steps
        .filter((step) => step.phase === "waiting_input")
        .map((step) =>
          step.approval?.state === "pending" ? (
            <Approval
              key={step.id}
              runId={runId}
              step={step}
              approval={step.approval}
              requester={requester}
            />
          ) : (
            <Questions key={step.id} runId={runId} step={step} />
          ),
        )}
    </>
  );
}

interface ApprovalProps {
  readonly runId: string;
  readonly step: RunStep;
  readonly approval: NonNullable<RunStep["approval"]>;
  readonly requester: string;
}

/** The verdict's digest goes with the answer, so a decision about an older change is refused by the gateway. */
function Approval({ runId, step, approval, requester }: ApprovalProps): ReactElement {
  const [reason, setReason] = useState("");
  const decide = (choice: string) => (): Promise<unknown> =>
    post(
      "/runs/{id}/events",
      { id: runId },
      {
        event: "approval",
        choice,
        task: step.id,
        verdict: approval.verdict,
        ...(reason.trim() === "" ? {} : { reason: reason.trim() }),
      },
    );
  const given = approval.words.filter(({ choice }) => choice === "approve");
  return (
    <section className="card decision" aria-label={`Decision about ${step.id}`}>
      <h2>{step.id} waits for a decision</h2>
      <p>
        The change passed the clean room as commit <code>{approval.commit.slice(0, 10)}</code>. It lands after{" "}
        {approval.needed} {approval.needed === 1 ? "approval" : "approvals"}; {given.length} given
        {given.length > 0 && `, by ${harmless(given.map(({ by }) => by).join(", "))}`}. Requested by{" "}
        {harmless(requester)}.
      </p>
      {approval.reasons !== undefined && (
        <ul>
          {approval.reasons.map((reason) => (
            <li key={reason}>{harmless(reason)}</li>
          ))}
        </ul>
      )}
      <label className="wide">
        Reason, needed to ask for changes
        <textarea
          rows={2}
          maxLength={2048}
          value={reason}
          onChange={(event) => setReason(event.target.value)}
        />
      </label>
      <div className="row">
        <Action kind="primary" perform={decide("approve")}>
          Approve
        </Action>
        <Action perform={decide("changes")} disabled={reason.trim() === ""}>
          Ask for changes
        </Action>
        <Action kind="danger" perform={decide("reject")}>
          Reject
        </Action>
      </div>
    </section>
  );
}

function Questions({ runId, step }: { readonly runId: string; readonly step: RunStep }): ReactElement {
  const [answers, setAnswers] = useState<readonly string[]>(step.questions.map(() => ""));
  const answer = (): Promise<unknown> =>
    post("/runs/{id}/events", { id: runId }, { event: "answer", task: step.id, answers: [...answers] });
  return (
    <section className="card decision" aria-label={`Questions of ${step.id}`}>
      <h2>{step.id} asks</h2>
      {step.questions.map((question, i) => (
        <label key={question} className="wide">
          {harmless(question)}
          <textarea
            rows={2}
            maxLength={8192}
            value={answers[i] ?? ""}
            onChange={(event) => setAnswers(answers.map((old, at) => (at === i ? event.target.value : old)))}
          />
        </label>
      ))}
      <Action kind="primary" perform={answer} disabled={answers.some((text) => text.trim() === "")}>
        Answer
      </Action>
    </section>
  );
}
