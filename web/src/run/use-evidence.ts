import { useEffect, useState } from "react";
import { get } from "../api/gateway.ts";
import { Refusal, unreachable } from "../api/refusal.ts";
import type { EvidenceBundle, RunRecord } from "../api/run-record.ts";

export interface Evidence {
  readonly bundles: readonly EvidenceBundle[] | null;
  readonly refusal: Refusal | null;
}

/** The evidence that the given records name. It is read again whenever there is more of it. */
export function useEvidence(records: readonly RunRecord[]): Evidence {
  const [state, setState] = useState<Evidence>({ bundles: null, refusal: null });
  const runId = records[0]?.runId ?? "";
  const named = records.filter(({ type }) => type === "result" || type === "verdict");
  const count = named.length;
  useEffect(() => {
    const stop = new AbortController();
    get("/runs/{id}/evidence", { id: runId }, stop.signal).then(
      ({ bundles }) => setState({ bundles, refusal: null }),
      (error: unknown) => {
        if (stop.signal.aborted) return;
        setState({ bundles: null, refusal: error instanceof Refusal ? error : unreachable(error) });
      },
    );
    return () => stop.abort();
  }, [runId, count]);
  const isShown = ({ kind, taskId, epoch }: EvidenceBundle): boolean =>
    named.some(
      (record) =>
        record.taskId === taskId &&
        record.epoch === epoch &&
        (record.type === "verdict") === (kind === "verdict"),
    );
  return { bundles: state.bundles?.filter(isShown) ?? null, refusal: state.refusal };
}
