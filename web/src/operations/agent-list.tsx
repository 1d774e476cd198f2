/** The agents that a run may name, with what they are made of and whether their models can be called. */
import type { ReactElement } from "react";
import { harmless } from "../screen/harmless.ts";
import { Notice } from "../screen/notice.tsx";
import { usePolled } from "../screen/polled.ts";

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
        {data?.agents.map(({ name, description, packages, model, state, reason }) => (
          <li key={name}>
            <strong>{harmless(name)}</strong>{" "}
            {packages.map((one) => (
              <code key={one}>{harmless(one)} </code>
            ))}
            {model !== null && (
              <span>
                {harmless(model.name)} at {harmless(model.host)}{" "}
              </span>
            )}
            <em>{state}</em> {reason !== null && <span className="quiet">{harmless(reason)}</span>}{" "}
            <span className="quiet">{harmless(description)}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
