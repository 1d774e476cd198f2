/** The records of one run as they arrive, and the newest live output. */
import { useEffect, useReducer, useState } from "react";
import type { Refusal } from "../api/refusal.ts";
import type { LiveOutput, RunRecord } from "../api/run-record.ts";
import { followRun } from "../api/run-stream.ts";

/** Characters of live output kept; the whole output is in the evidence. */
const KEPT_OUTPUT = 512 * 1024;

export interface FollowedRun {
  readonly records: readonly RunRecord[];
  readonly output: readonly LiveOutput[];
  readonly connected: boolean;
  readonly refusal: Refusal | null;
}

export function useRun(runId: string): FollowedRun {
  const [records, onRecords] = useReducer(withFresh, []);
  const [output, onOutput] = useReducer(withOutput, { items: [], size: 0 });
  const [connected, onConnected] = useState(true);
  const [refusal, onRefused] = useState<Refusal | null>(null);
  useEffect(() => {
    const stop = new AbortController();
    void followRun(runId, { onRecords, onOutput, onConnected, onRefused }, stop.signal);
    return () => stop.abort();
  }, [runId]);
  return { records, output: output.items, connected, refusal };
}

/** React may run the effect twice, so a record may come twice. */
function withFresh(before: readonly RunRecord[], fresh: readonly RunRecord[]): readonly RunRecord[] {
  const last = before.at(-1)?.seq ?? 0;
  const unseen = fresh.filter(({ seq }) => seq > last);
  return unseen.length === 0 ? before : [...before, ...unseen];
}

interface Output {
  readonly items: readonly LiveOutput[];
  readonly size: number;
}

function withOutput(before: Output, fresh: LiveOutput): Output {
  const items = [...before.items, fresh];
  let size = before.size + fresh.text.length;
  let from = 0;
  while (size > KEPT_OUTPUT && from < items.length - 1) size -= items[from++]?.text.length ?? 0;
  return { items: items.slice(from), size };
}
