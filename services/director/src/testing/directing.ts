/**
 * A Director over a journal in memory, for tests. Unless a test overrides it, no timer comes due, every attempt is
 * admitted, and nothing is published live.
 */
import type { NewRecord, StoredRecord } from "@antiphon/contracts";
import { createLogger, silentMeter, type Meter } from "@antiphon/runtime";
import { MemoryJournal } from "@antiphon/runtime/testing/memory-journal";
import { MemoryKv } from "@antiphon/runtime/testing/memory-kv";
import type { Effect, RunPolicy } from "@antiphon/run";
import { RecordLog, planned } from "@antiphon/run/testing/record-log";
import { EffectRunner } from "../effects/effect-runner.ts";
import type { Perform } from "../effects/effect-table.ts";
import { Director, type DirectorParts } from "../scheduling/director.ts";
import { Projector } from "../views/projector.ts";
import { RunCache } from "../runs/run-cache.ts";
import { noTracing } from "../runs/run-tracing.ts";
import { RunMeter } from "../runs/run-meter.ts";

export const POLICY: RunPolicy = { maxAttempts: 3, maxLapses: 2, maxOutages: 3, maxIntegrations: 3 };
export const silent = createLogger("test", { level: "silent" });
export const noTimers = {
  note: () => undefined,
  drop: () => undefined,
  keep: () => Promise.resolve(null),
  hold: () => Promise.resolve(),
  overdue: () => Promise.resolve(),
};

export function directorOver(
  journal: MemoryJournal,
  perform: Perform,
  over: Partial<Pick<DirectorParts, "runs" | "admission" | "tell">> & { meter?: Meter } = {},
) {
  const {
    runs = new RunCache(journal, POLICY),
    admission = { admits: () => true },
    tell = () => undefined,
  } = over;
  const meter = new RunMeter(over.meter ?? silentMeter);
  const buckets = { runs: new MemoryKv(), contracts: new MemoryKv() };
  const projector = new Projector(buckets, (runId) => runs.load(runId), silent);
  const runner = new EffectRunner({ journal, runs, perform, meter, traces: noTracing, log: silent });
  const shared = { runs, runner, projector, meter, traces: noTracing };
  const parts = { ...shared, timers: noTimers, admission, tell, log: silent };
  const director = new Director(parts);
  const deliver = (
    record: StoredRecord,
    {
      deliveries = 1,
      signal = new AbortController().signal,
    }: { deliveries?: number; signal?: AbortSignal | undefined } = {},
  ) => director.handle({ record, deliveries, signal });
  return { director, runs, deliver, projector, views: buckets.runs };
}

/** Runs `body` for each effect and answers with a dispatch; tests ask for nothing else. */
function dispatching(body: (effect: Effect) => Promise<void>): Perform {
  return async (run, effect, cause) => {
    await body(effect);
    const dispatch = new RecordLog(run.runId).dispatched("T-001").records[0]!;
    if (dispatch.type !== "dispatch") throw new Error("unreachable");
    return { type: "dispatch", runId: run.runId, taskId: "T-001", epoch: 1, cause, body: dispatch.body };
  };
}

/** A routed run whose one task the Director has to dispatch; `body` runs during the dispatch. */
export async function toDispatch(body: (effect: Effect) => Promise<void>) {
  const told: string[] = [];
  const journal = new MemoryJournal();
  const fixture = new RecordLog().opened([planned("T-001")]);
  for (const { type, runId, taskId, epoch, cause, body } of fixture.records) {
    await journal.append({ type, runId, taskId, epoch, cause, body } as NewRecord);
  }
  const records = await journal.read(fixture.runId);
  const tell: DirectorParts["tell"] = ({ taskId }, text) => void told.push(`${taskId ?? "run"} ${text}`);
  const { director, runs, deliver, projector, views } = directorOver(journal, dispatching(body), { tell });
  const dispatches = async () =>
    (await journal.read(fixture.runId)).filter((record) => record.type === "dispatch").length;
  return {
    journal,
    runs,
    director,
    projector,
    views,
    hear: deliver,
    deliver: (deliveries = 1) => deliver(records[1]!, { deliveries }),
    dispatches,
    told,
  };
}
