/** Folds records into the snapshot of a run, by the table of the machine. */
import type { StoredRecord } from "@antiphon/contracts";
import { foldRun, refuseRecord } from "../fold/run-fold.ts";
import { emptyRun, type RunPolicy, type RunState } from "../state/run-state.ts";
import type { RunStage } from "./run-machine.ts";
import { RUN_TABLE } from "./run-table.ts";

export interface RunSnapshot {
  readonly value: RunStage;
  readonly status: "active" | "done";
  readonly context: RunState;
}

export function openRun(runId: string, policy: RunPolicy): RunSnapshot {
  return { value: "queued", status: "active", context: emptyRun(runId, policy) };
}

/** Folds those of `records` (in stream order) that the snapshot has not seen yet (run/R1). */
export function replay(snapshot: RunSnapshot, records: readonly StoredRecord[]): RunSnapshot {
  let next = snapshot;
  for (const record of records) {
    if (record.seq <= next.context.lastSeq) continue;
    if (next.status !== "active") break; // run/R3: nothing follows `closed`.
    next = transition(next, record);
  }
  return next;
}

function transition({ value, context }: RunSnapshot, record: StoredRecord): RunSnapshot {
  const isFolded = RUN_TABLE[value].folds.has(record.type);
  const now = { context: isFolded ? foldRun(context, record) : refuseRecord(context, record) };
  let stage = value;
  for (;;) {
    const step = RUN_TABLE[stage].steps.find(({ isTaken }) => isTaken(now));
    if (step === undefined) break;
    stage = step.to;
  }
  return { value: stage, status: RUN_TABLE[stage].isFinal ? "done" : "active", context: now.context };
}
