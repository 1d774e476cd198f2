/** A session: what it has done, and its requests for approval, decided here. */
import type { WaitingApproval } from "@antiphon/client";
import { useState, type ReactElement } from "react";
import { post } from "../api/gateway.ts";
import { Action } from "../screen/action.tsx";
import { harmless } from "../screen/harmless.ts";
import { Notice } from "../screen/notice.tsx";
import { usePolled } from "../screen/polled.ts";

const EVERY_MS = 3_000;

export default function SessionPage({ sessionId }: { readonly sessionId: string }): ReactElement {
  const session = usePolled("/sessions/{id}", { id: sessionId }, EVERY_MS);
  const open = usePolled("/sessions/{id}/approvals", { id: sessionId }, EVERY_MS);
  const refusal = session.refusal ?? open.refusal;
  return (
    <>
      <h1>Session {sessionId}</h1>
      {refusal !== null && <Notice refusal={refusal} />}
      {open.data?.approvals.map((request) => (
        <Approval
          key={request.commandId}
          sessionId={sessionId}
          request={request}
          onDecided={() => {
            open.again();
            session.again();
          }}
        />
      ))}
      {session.data !== null && (
        <section className="card" aria-label="Commands">
          <h2>Commands</h2>
          <p className="quiet">
            {harmless(session.data.status)}
            {session.data.reason !== undefined && `: ${harmless(session.data.reason)}`}
          </p>
          {session.data.commands.length === 0 && <p className="quiet">None yet.</p>}
          <ul className="checks">
            {session.data.commands.map(({ commandId, state, message = "", code }) => (
              <li key={commandId}>
                <code>{harmless(commandId)}</code> <strong>{state}</strong> {harmless(message)}{" "}
                {code !== undefined && <code>{harmless(code)}</code>}
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

interface ApprovalProps {
  readonly sessionId: string;
  readonly request: WaitingApproval;
  readonly onDecided: () => void;
}

/** The digest goes with the decision, so one about older work is refused by the gateway. */
function Approval({ sessionId, request, onDecided }: ApprovalProps): ReactElement {
  const [reason, setReason] = useState("");
  const { commandId, digest, branch, head, requestedBy } = request;
  const decide = (choice: "approve" | "reject") => async (): Promise<void> => {
    const why = reason.trim() === "" ? {} : { reason: reason.trim() };
    await post("/sessions/{id}/approvals", { id: sessionId }, { commandId, choice, digest, ...why });
    onDecided();
  };
  return (
    <section className="card decision" aria-label={`Decision about ${commandId}`}>
      <h2>{harmless(commandId)} waits for a decision</h2>
      <p>
        {harmless(request.reason)}. Requested by {harmless(requestedBy ?? "somebody")}
        {branch !== null && head !== null && (
          <>
            {" "}
            for <code>{harmless(branch)}</code> at <code>{head.slice(0, 10)}</code>
          </>
        )}
        .
      </p>
      {request.requiredActions.length > 0 && (
        <ul>
          {request.requiredActions.map((action) => (
            <li key={action}>{harmless(action)}</li>
          ))}
        </ul>
      )}
      {request.stale && (
        <p role="status">
          The session's work or its policy has changed since. The request can only be rejected.
        </p>
      )}
      <label className="wide">
        Reason
        <textarea
          rows={2}
          maxLength={2000}
          value={reason}
          onChange={(event) => setReason(event.target.value)}
        />
      </label>
      <div className="row">
        <Action kind="primary" perform={decide("approve")} disabled={request.stale}>
          Approve
        </Action>
        <Action kind="danger" perform={decide("reject")}>
          Reject
        </Action>
      </div>
    </section>
  );
}
