/** The agents that a run may name, with what they are made of and whether their models can be called. */
import type { GetAnswer } from "@antiphon/client";
import type { ReactElement } from "react";
import { harmless } from "../screen/harmless.ts";
import { Notice } from "../screen/notice.tsx";
import { usePolled } from "../screen/polled.ts";
import { Status } from "../screen/status.tsx";

/** `associates`: how many answer now; null: not known yet. */
export function AgentList({ associates }: { readonly associates: number | null }): ReactElement {
  const { data, refusal } = usePolled("/agents", {}, 30_000);
  return (
    <section className="card" aria-label="Agents">
      <h2>Agents</h2>
      {associates !== null && (
        <p>
          {associates} {associates === 1 ? "Associate answers" : "Associates answer"}
        </p>
      )}
      {refusal !== null && <Notice refusal={refusal} />}
      {data?.agents.length === 0 && <p className="quiet">This gateway knows no agent packs.</p>}
      <ul className="checks">
        {data?.agents.map((agent) => (
          <Agent key={agent.name} {...agent} />
        ))}
      </ul>
    </section>
  );
}

type AgentLine = GetAnswer<"/agents">["agents"][number];

function Agent({ name, description, packages, model, state, reason }: AgentLine): ReactElement {
  const made = packages.map(harmless).join(", ");
  return (
    <li>
      <div className="task-head">
        <span>
          <strong>{harmless(name)}</strong> <span className="quiet">{harmless(description)}</span>
        </span>
        <Status status={state} />
      </div>
      <p className="facts">
        <code>{made}</code>
        {model !== null && (
          <span>
            {harmless(model.name)} at {harmless(model.host)}
          </span>
        )}
        {reason !== null && <span>{harmless(reason)}</span>}
      </p>
    </li>
  );
}
