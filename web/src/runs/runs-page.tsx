import { useMemo, useState, type ReactElement } from "react";
import { isMaterial } from "@antiphon/contracts/runs/connectors";
import { Action } from "../screen/action.tsx";
import { Notice } from "../screen/notice.tsx";
import { IntentForm } from "./intent-form.tsx";
import { RunTable } from "./run-table.tsx";
import { useRuns } from "./use-runs.ts";

const STATUSES = ["all", "waiting_input", "running", "queued", "succeeded", "failed", "canceled"] as const;

const hasRepository = ({ repo }: { repo: string }): boolean => !isMaterial({ path: repo });

/** The runs, the newest first, with a filter by status and by words of the goal, the repository or the id. */
export function RunsPage(): ReactElement {
  const { runs, refusal, again, readOlder } = useRuns();
  const [status, setStatus] = useState<(typeof STATUSES)[number]>("all");
  const [words, setWords] = useState("");
  const shown = useMemo(() => {
    const wanted = words.toLowerCase();
    return (runs ?? []).filter(
      (run) =>
        (status === "all" || run.status === status) &&
        (wanted === "" || `${run.goal} ${run.repo} ${run.runId}`.toLowerCase().includes(wanted)),
    );
  }, [runs, status, words]);
  const waiting = (runs ?? []).filter((run) => run.status === "waiting_input").length;
  return (
    <>
      <IntentForm onStarted={again} lastRepo={runs?.find(hasRepository)?.repo ?? ""} />
      <section aria-label="Runs">
        <div className="filters">
          <h1>Runs</h1>
          {waiting > 0 && status !== "waiting_input" && (
            <button type="button" className="primary" onClick={() => setStatus("waiting_input")}>
              {waiting === 1 ? "1 run waits for you" : `${waiting} runs wait for you`}
            </button>
          )}
          <label>
            Status
            <select value={status} onChange={(event) => setStatus(event.target.value as typeof status)}>
              {STATUSES.map((one) => (
                <option key={one} value={one}>
                  {one.replaceAll("_", " ")}
                </option>
              ))}
            </select>
          </label>
          <label>
            Search
            <input
              type="search"
              value={words}
              placeholder="goal, repository or id"
              onChange={(event) => setWords(event.target.value)}
            />
          </label>
        </div>
        {refusal !== null && <Notice refusal={refusal} />}
        {runs !== null && <RunTable runs={shown} isFiltered={shown.length !== runs.length} />}
        {readOlder !== null && <Action perform={readOlder}>Older runs</Action>}
      </section>
    </>
  );
}
