import type { RunStep } from "@antiphon/contracts";
import type { ReactElement } from "react";
import { harmless } from "../screen/harmless.ts";
import { Status } from "../screen/status.tsx";
import { columnsOf } from "./columns.ts";

/** The task graph: a column holds what can be done once the columns before it are done. */
export function Tasks({ steps }: { readonly steps: readonly RunStep[] }): ReactElement | null {
  if (steps.length === 0) return null;
  return (
    <section aria-label="Tasks" className="graph">
      {columnsOf(steps).map((column) => (
        <ul key={column[0]?.id ?? ""}>
          {column.map((step) => (
            <li key={step.id} className="card">
              <div className="task-head">
                <strong>{step.id}</strong>
                <Status status={step.phase === "finished" ? step.status : step.phase} />
              </div>
              <p>{harmless(step.title)}</p>
              <p className="quiet">
                {step.attempts > 1 && `${step.attempts} attempts. `}
                {step.deps.length > 0 && `After ${step.deps.join(", ")}. `}
                {step.verdict !== null && `Clean room: ${step.verdict}. `}
                {step.commit !== null && `Commit ${step.commit.slice(0, 10)}.`}
              </p>
              {step.message !== null && step.message !== "" && (
                <p className={step.code === null ? "quiet" : "why"}>
                  {harmless(step.message)} {step.code !== null && <code>{step.code}</code>}
                </p>
              )}
            </li>
          ))}
        </ul>
      ))}
    </section>
  );
}
