import type { ReactElement } from "react";
import type { GetAnswer } from "@antiphon/client";
import { harmless } from "../screen/harmless.ts";
import { isPack, type IntentFields } from "./intent.ts";

type Pack = GetAnswer<"/agents">["agents"][number];

interface AgentFieldsProps {
  readonly fields: IntentFields;
  readonly packs: readonly Pack[];
  readonly set: (change: Partial<IntentFields>) => void;
}

/** Undefined: the chosen agent needs no pack. */
export function packOf({ agent }: IntentFields, packs: readonly Pack[]): Pack | undefined {
  return isPack(agent) ? packs.find(({ name }) => name === agent) : undefined;
}

/** The agent, and what it needs: a program, commands, or a budget for its model. */
export function AgentFields({ fields, packs, set }: AgentFieldsProps): ReactElement {
  const pack = packOf(fields, packs);
  return (
    <>
      <label>
        Agent
        <select value={fields.agent} onChange={(event) => set({ agent: event.target.value })}>
          <option value="command">a program in the sandbox</option>
          <option value="scripted">shell commands, without a model</option>
          {packs.map(({ name, state }) => (
            <option key={name} value={name} disabled={state === "unreadable"}>
              {harmless(state === "ready" ? name : `${name} (${state})`)}
            </option>
          ))}
        </select>
      </label>
      {pack === undefined ? (
        <label className="wide">
          {fields.agent === "command" ? "Program and arguments" : "Commands, one a line"}
          {fields.about === "brief" && ". Empty: the brief lists everything that was read"}
          <textarea rows={2} value={fields.does} onChange={(event) => set({ does: event.target.value })} />
        </label>
      ) : (
        <label>
          Most that its model may cost, in USD
          <input
            inputMode="decimal"
            value={fields.modelUsd}
            onChange={(event) => set({ modelUsd: event.target.value })}
          />
          {pack.reason !== null && <span className="quiet">{harmless(pack.reason)}</span>}
        </label>
      )}
    </>
  );
}
