import type { RunViewModel } from "@antiphon/contracts";
import { isPaused, type RunFacts } from "@antiphon/run/facts/run-facts";
import type { ReactElement } from "react";
import { post } from "../api/gateway.ts";
import type { RunRecord } from "../api/run-record.ts";
import { Action } from "../screen/action.tsx";
import { harmless } from "../screen/harmless.ts";
import { Status } from "../screen/status.tsx";
import { duration } from "../screen/time.ts";
import { useNow } from "../screen/use-now.ts";

interface RunHeaderProps {
  readonly records: readonly RunRecord[];
  readonly facts: RunFacts;
  readonly view: RunViewModel;
  /** The newest state is shown, so the run can be acted upon. */
  readonly isLive: boolean;
  readonly connected: boolean;
}

export function RunHeader({ records, facts, view, isLive, connected }: RunHeaderProps): ReactElement {
  const { runId, status } = view;
  const [first] = records;
  const { intent, closed } = facts;
  const isOpen = closed === null;
  const now = useNow(isOpen && isLive);
  const began = Date.parse(first?.at ?? "");
  const ended = isLive && isOpen ? now : Date.parse(records.at(-1)?.at ?? "");
  const paused = isPaused(facts);
  return (
    <header className="run-head">
      <Status status={status} paused={paused} />
      <span className="quiet time">{duration(ended - began)}</span>
      {intent !== null && <span className="quiet">{harmless(intent.base.repo.path)}</span>}
      <code>{runId}</code>
      {!connected && (
        <span className="status failed" role="status">
          connection lost, trying again
        </span>
      )}
      {isLive && isOpen && <OpenActions runId={runId} paused={paused} />}
      {isLive && (status === "failed" || status === "canceled") && <Retry runId={runId} />}
      {closed?.code != null && <code className="code">{closed.code}</code>}
    </header>
  );
}

function OpenActions({ runId, paused }: { readonly runId: string; readonly paused: boolean }): ReactElement {
  const cancel = async (): Promise<void> => {
    if (!window.confirm("Cancel this run? Work under way is stopped, and nothing of it lands.")) return;
    await post("/runs/{id}/events", { id: runId }, { event: "cancel" });
  };
  return (
    <>
      <Action perform={() => post(`/runs/{id}/${paused ? "resume" : "pause"}`, { id: runId }, undefined)}>
        {paused ? "Resume" : "Pause"}
      </Action>
      <Action kind="danger" perform={cancel}>
        Cancel
      </Action>
    </>
  );
}

function Retry({ runId }: { readonly runId: string }): ReactElement {
  const retry = async (): Promise<void> => {
    const { runId: next } = await post("/runs/{id}/retry", { id: runId }, undefined);
    window.location.hash = `#/runs/${next}`;
  };
  return <Action perform={retry}>Retry as a new run</Action>;
}
