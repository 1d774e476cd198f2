import type { RunStep, RunViewModel } from "@antiphon/contracts";
import { isErrorCode, remedyFor } from "@antiphon/contracts/errors";
import type { ReactElement } from "react";
import { harmless } from "../screen/harmless.ts";
import { Status } from "../screen/status.tsx";
import { columnsOf } from "./columns.ts";

/** The task graph: a column holds what can be done once the columns before it are done. */
export function Tasks({
  runId,
  status,
  steps,
}: Pick<RunViewModel, "runId" | "status" | "steps">): ReactElement | null {
  if (steps.length === 0) return null;
  return (
    <section aria-label="Tasks" className="graph">
      {columnsOf(steps).map((column) => (
        <ul key={column[0]?.id ?? ""}>
          {column.map((step) => (
            <li key={step.id} className="card">
              <div className="task-head">
                <strong>{step.id}</strong>
                <Status status={statusOf(step, status)} />
              </div>
              <p>{harmless(step.title)}</p>
              <p className="quiet">
                {step.attempts > 1 && `${step.attempts} attempts. `}
                {step.deps.length > 0 && `After ${step.deps.join(", ")}. `}
                {step.agent !== undefined && `Agent: ${harmless(step.agent)}. `}
                {step.image !== undefined && `Image: ${harmless(step.image)}. `}
                {step.network !== undefined && `Network: ${harmless(step.network)}. `}
                {step.verdict !== null && `Clean room: ${step.verdict}. `}
                {step.commit !== null && `Commit ${step.commit.slice(0, 10)}.`}
              </p>
              {step.message !== null && step.message !== "" && (
                <Said message={harmless(step.message)} code={step.code} runId={runId} />
              )}
            </li>
          ))}
        </ul>
      ))}
    </section>
  );
}

/** The status of a task has no word for one that was under way when its run was canceled. */
function statusOf({ phase, status }: RunStep, run: RunViewModel["status"]): string {
  if (phase !== "finished") return phase;
  return run === "canceled" && status === "failed" ? run : status;
}

/** The last word on a task: a line, the output that it quotes, and what to do about it. */
function Said({
  message,
  code,
  runId,
}: {
  readonly message: string;
  readonly code: string | null;
  readonly runId: string;
}): ReactElement {
  const [line = "", ...output] = message.split("\n");
  return (
    <>
      <p className={code === null ? "quiet" : "why"}>
        {line} {code !== null && <code>{code}</code>}
      </p>
      {output.length > 0 && <pre className="log">{output.join("\n")}</pre>}
      {code !== null && isErrorCode(code) && <p className="quiet">{remedyFor(code, runId)}</p>}
    </>
  );
}
