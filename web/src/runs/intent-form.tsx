import { useRef, useState, type ReactElement } from "react";
import { get, post } from "../api/gateway.ts";
import { Action } from "../screen/action.tsx";
import { harmless } from "../screen/harmless.ts";
import { usePolled } from "../screen/polled.ts";
import { intentOf, isPack, NO_FIELDS, type IntentFields } from "./intent.ts";

interface IntentFormProps {
  readonly onStarted: () => void;
  readonly lastRepo: string;
}

/** Submits an intent and opens its run. The fields stay as they are until the run is accepted. */
export function IntentForm({ onStarted, lastRepo }: IntentFormProps): ReactElement {
  const [fields, setFields] = useState<IntentFields>(NO_FIELDS);
  const details = useRef<HTMLDetailsElement>(null);
  const repo = fields.repo === "" ? lastRepo : fields.repo;
  const set = (change: Partial<IntentFields>): void => setFields((before) => ({ ...before, ...change }));

  const packs = usePolled("/agents", {}, 60_000).data?.agents ?? [];
  const pack = packs.find(({ name }) => isPack(fields.agent) && name === fields.agent);

  const start = async (): Promise<void> => {
    const named = pack === undefined ? null : (await get("/agents/{name}", { name: pack.name })).agent;
    const { intentId } = await post("/intents", {}, intentOf({ ...fields, repo }, named));
    // The key makes a repeated request, after a lost answer, return the same run.
    const key = { "idempotency-key": crypto.randomUUID() };
    const { runId } = await post("/intents/{id}/run", { id: intentId }, undefined, key);
    setFields(NO_FIELDS);
    if (details.current !== null) details.current.open = false;
    onStarted();
    window.location.hash = `#/runs/${runId}`;
  };

  return (
    <details className="card" ref={details}>
      <summary>New run</summary>
      <form onSubmit={(event) => event.preventDefault()}>
        <label className="wide">
          Goal
          <textarea
            rows={2}
            value={fields.goal}
            placeholder="Fix the failing date parser"
            onChange={(event) => set({ goal: event.target.value })}
          />
        </label>
        <label className="wide">
          Repository, as a path on the gateway's machine
          <input
            value={repo}
            placeholder="/srv/repos/app"
            onChange={(event) => set({ repo: event.target.value })}
          />
        </label>
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
        <label className="wide">
          Checks, one a line. Empty: the repository's own
          <textarea
            rows={2}
            value={fields.checks}
            onChange={(event) => set({ checks: event.target.value })}
          />
        </label>
        <label>
          Also move this branch
          <input
            value={fields.landOn}
            placeholder="main"
            onChange={(event) => set({ landOn: event.target.value })}
          />
        </label>
        <label>
          Approvals before it lands
          <input
            type="number"
            min={0}
            max={16}
            value={fields.approvals}
            onChange={(event) => set({ approvals: Number(event.target.value) })}
          />
        </label>
        <Action
          kind="primary"
          perform={start}
          disabled={fields.goal.trim() === "" || (pack === undefined && fields.does.trim() === "")}
        >
          Start the run
        </Action>
      </form>
    </details>
  );
}
