/**
 * What one new record of a run tells Prometheus: how often something happened, and how long a stage took by the times of
 * the run's records.
 */
import type { CounterName, HistogramName, JournalType, LabelsOf, StoredRecord } from "@antiphon/contracts";

type CountOf = { [N in CounterName]: { readonly count: N; readonly labels: LabelsOf<N> } }[CounterName];
type SecondsOf = {
  [N in HistogramName]: { readonly observe: N; readonly labels: LabelsOf<N>; readonly seconds: number };
}[HistogramName];
export type Measurement = CountOf | SecondsOf;

type Of<T extends JournalType> = Extract<StoredRecord, { type: T }>;

/** `records`: the run's records, with or without `record`. A stage whose beginning is not among them is left out. */
export function measurementsOf(record: StoredRecord, records: readonly StoredRecord[]): Measurement[] {
  const first = <T extends JournalType>(type: T): Of<T> | undefined =>
    records.find((one): one is Of<T> => one.type === type);
  const own = (type: JournalType): StoredRecord | undefined =>
    records.find((one) => one.type === type && one.taskId === record.taskId && one.epoch === record.epoch);
  const took = <N extends HistogramName>(
    observe: N,
    labels: LabelsOf<N>,
    begun: StoredRecord | undefined,
  ): Measurement[] => {
    if (begun === undefined) return [];
    const seconds = Math.max(0, record.at.getTime() - begun.at.getTime()) / 1_000;
    return [{ observe, labels, seconds } as Measurement];
  };
  const plan = first("routed")?.body;
  const workflow = plan?.workflow ?? "none";
  const agent = agentOf(plan?.tasks, record.taskId);

  switch (record.type) {
    case "routed":
      return took("antiphon_routing_duration_seconds", {}, first("intent"));
    case "claim":
      return took("antiphon_queue_wait_seconds", { agent }, own("dispatch"));
    case "result": {
      const { body } = record;
      const { kind } = body;
      const code = kind === "lapsed" ? "none" : (body.code ?? "none");
      return [
        { count: "antiphon_attempts_total", labels: { agent, kind, code } },
        ...took("antiphon_attempt_duration_seconds", { agent }, own("claim")),
      ];
    }
    case "verdict": {
      const { verdict, code, asks } = record.body;
      if (asks !== undefined) return [];
      return [
        { count: "antiphon_verdicts_total", labels: { verdict, code: code ?? "none" } },
        ...took("antiphon_verification_duration_seconds", { verdict }, own("result")),
      ];
    }
    case "landing": {
      const { body } = record;
      const code = body.kind === "landed" ? "none" : body.code;
      const count = { count: "antiphon_landings_total", labels: { kind: body.kind, code } } as const;
      if (body.kind === "refused") return [count];
      return [count, ...took("antiphon_time_to_land_seconds", { workflow }, first("intent"))];
    }
    case "closed": {
      const { status, code } = record.body;
      return [
        { count: "antiphon_runs_total", labels: { workflow, status, agent, code: code ?? "none" } },
        ...took("antiphon_run_duration_seconds", { workflow, status }, first("intent")),
      ];
    }
    case "intent":
    case "dispatch":
    case "approval":
    case "input":
    case "cancel":
    case "control":
    case "message":
    case "requeue":
    case "due":
    case "archived":
    case "restored":
      return [];
  }
}

/** The kind of agent of a task; of the run if `taskId` is null: `mixed` if its tasks differ, `none` if it has none. */
function agentOf(tasks: Of<"routed">["body"]["tasks"] | undefined, taskId: string | null): string {
  const concerned = (tasks ?? []).filter(({ task }) => taskId === null || task.task_id === taskId);
  const kinds = new Set(concerned.map(({ agent }) => agent.kind));
  if (kinds.size > 1) return "mixed";
  return [...kinds][0] ?? "none";
}
