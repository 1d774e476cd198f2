import { useRef, useState, type ReactElement } from "react";
import { get, post } from "../api/gateway.ts";
import { Action } from "../screen/action.tsx";
import { usePolled } from "../screen/polled.ts";
import { AgentFields, packOf } from "./agent-fields.tsx";
import { intentOf, NO_FIELDS, type IntentFields } from "./intent.ts";

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
  const pack = packOf(fields, packs);

  const start = async (): Promise<void> => {
    const named = pack === undefined ? null : (await get("/agents/{name}", { name: pack.name })).agent;
    const { intentId } = await post("/intents", {}, intentOf({ ...fields, repo }, named));
    // The key makes a repeated request, after a lost answer, return the same run.
    const key = { "idempotency-key": crypto.randomUUID() };
    const { runId } = await post("/intents/{id}/run", { id: intentId }, undefined, key);
    setFields(NO_FIELDS);
    if (details.current !== null) details.current.open = false;
    onStarted();
    window.location.assign(`#/runs/${runId}`);
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
        <AgentFields fields={fields} packs={packs} set={set} />
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
