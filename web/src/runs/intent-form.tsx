import { useRef, useState, type ReactElement } from "react";
import { get, post } from "../api/gateway.ts";
import { Action } from "../screen/action.tsx";
import { harmless } from "../screen/harmless.ts";
import { usePolled } from "../screen/polled.ts";
import { AgentFields, packOf } from "./agent-fields.tsx";
import { BriefFields } from "./brief-fields.tsx";
import { intentOf, lackOf, NO_FIELDS, type IntentFields } from "./intent.ts";
import { RepositoryFields } from "./repository-fields.tsx";

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
  const lack = lackOf({ ...fields, repo }, pack !== undefined);

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
            placeholder={fields.about === "brief" ? "daily brief" : "Fix the failing date parser"}
            onChange={(event) => set({ goal: event.target.value })}
          />
        </label>
        <label>
          What it is about
          <select
            value={fields.about}
            onChange={(event) => set({ about: event.target.value === "brief" ? "brief" : "repository" })}
          >
            <option value="repository">a repository</option>
            <option value="brief">a brief of work items and pull requests</option>
          </select>
        </label>
        {fields.about === "repository" && (
          <label className="wide">
            Repository, as a path on the gateway's machine
            <input
              value={repo}
              placeholder="/srv/repos/app"
              onChange={(event) => set({ repo: event.target.value })}
            />
          </label>
        )}
        {fields.about === "brief" && <BriefFields fields={fields} set={set} />}
        <AgentFields fields={fields} packs={packs} set={set} />
        {fields.about === "repository" && <RepositoryFields fields={fields} set={set} />}
        <Action kind="primary" perform={start} disabled={lack !== null}>
          Start the run
        </Action>
        {lack !== null && <span className="quiet">{harmless(lack)}</span>}
      </form>
    </details>
  );
}
