/** The records of one run as they arrive, and the newest live output. */
import { useEffect, useReducer, useState } from "react";
import type { Refusal } from "../api/refusal.ts";
import type { LiveOutput, RunRecord } from "../api/run-record.ts";
import { followRun } from "../api/run-stream.ts";

/** Characters of live output kept; the whole output is in the evidence. */
const KEPT_OUTPUT = 512 * 1024;
const SHOW_EVERY_MS = 50;
/** A fold of 100,000 records may take a tenth of a second, and should not take up more than a tenth of the time. */
const MORE_PER_RECORD_MS = 0.01;

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
    const gathered = gatherer(onRecords);
    const listener = { onRecords: gathered.add, onOutput, onConnected, onRefused };
    void followRun(runId, listener, stop.signal);
    return () => {
      stop.abort();
      gathered.stop();
    };
  }, [runId]);
  return { records, output: output.items, connected, refusal };
}

/** Shows records together: each showing folds all of them, so one for each piece of a long run would take minutes. */
function gatherer(show: (records: readonly RunRecord[]) => void): {
  readonly add: (fresh: readonly RunRecord[]) => void;
  readonly stop: () => void;
} {
  let waiting: RunRecord[] = [];
  let shown = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const flush = (): void => {
    timer = undefined;
    shown += waiting.length;
    show(waiting);
    waiting = [];
  };
  return {
    add(fresh) {
      for (const record of fresh) waiting.push(record);
      timer ??= setTimeout(flush, shown === 0 ? 0 : SHOW_EVERY_MS + shown * MORE_PER_RECORD_MS);
    },
    stop: () => clearTimeout(timer),
  };
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
