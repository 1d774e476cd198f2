/**
 * Lists the records that must exist because others do: a claim implies a dispatch, a second attempt implies an end of
 * the first, a success implies its landings. Each rule holds in every legal run, also in one that two slow Directors
 * worked on, because a Director writes a record only after the records that lead to it.
 */
import type { StoredRecord, RunViewModel } from "@antiphon/contracts";
import { KnownRun, type Place, type RecordOf, type Register } from "./known-run.ts";
import { shownBy } from "./shown-records.ts";

export interface Implied {
  readonly register: Register;
  /** The record or view that implies it, in words. */
  readonly by: string;
  /** It must come before this sequence. Null when a view implies it. */
  readonly before: number | null;
}

export function impliedRecords(records: readonly StoredRecord[], view: RunViewModel | null): Implied[] {
  const run = new KnownRun(records);
  const byRecord = records.flatMap((record) =>
    leadingTo(record, run).map((place) => implied(place, `${record.type}, seq ${record.seq}`, record.seq)),
  );
  if (view === null) return byRecord;
  const lost = shownBy(view, run).filter((place) => run.get(...place) === undefined);
  return [...byRecord, ...lost.map((place) => implied(place, "the view in ANT_RUNS", null))];
}

function implied([type, taskId, epoch]: Place, by: string, before: number | null): Implied {
  return { register: { type, taskId, epoch }, by, before };
}

function leadingTo(record: StoredRecord, run: KnownRun): Place[] {
  if (record.type === "intent") return [];
  const start: Place[] = [["intent", null, 0]];
  if (record.taskId !== null) start.push(["routed", null, 0]);
  return [...start, ...beforeRecord(record, run)];
}

function beforeRecord(record: StoredRecord, run: KnownRun): Place[] {
  const { type, taskId, epoch } = record;
  const before: Place[] = epoch > 1 ? [[type, null, epoch - 1]] : [];
  switch (record.type) {
    case "dispatch":
      return beforeDispatch(record, run);
    case "claim":
      return [["dispatch", taskId, epoch]];
    case "result":
      return [
        ["dispatch", taskId, epoch],
        ...(record.body.kind === "reported" ? [["claim", taskId, epoch] as const] : []),
      ];
    case "verdict":
      return beforeVerdict(record, run);
    case "landing":
      return [["verdict", taskId, epoch], ...beforeLanding(record, run)];
    case "approval":
      return [["verdict", record.body.task, record.body.attempt], ...before];
    case "message":
      return [["dispatch", record.body.task, record.body.attempt], ...before];
    case "control":
    case "requeue":
      return before;
    case "closed":
      return beforeClosed(record, run);
    default:
      return [];
  }
}

function beforeVerdict({ taskId, epoch, body }: RecordOf<"verdict">, run: KnownRun): Place[] {
  if (taskId === null) return epoch > 1 ? [["landing", null, epoch - 1]] : [];
  // A Director that could not dispatch the task writes a verdict without an attempt.
  // A question about the run's checks stands for no attempt either.
  const handedOut = body.verdict === "PASS" || run.get("dispatch", taskId, epoch) !== undefined;
  return handedOut ? [["result", taskId, epoch]] : [];
}

/** Approvals are numbered by the run, so what the landed changes needed together is how many there are at least. */
function beforeLanding({ taskId, epoch, seq, body }: RecordOf<"landing">, run: KnownRun): Place[] {
  if (body.kind !== "landed") return [];
  if (taskId === null) return judgedAgain(run, epoch, seq);
  const byRun = run.get("intent", null, 0)?.body.options.approvals?.needed ?? 0;
  const needed = run
    .all("landing")
    .filter((one) => one.taskId !== null && one.body.kind === "landed" && one.seq <= seq)
    .map((one) => run.get("verdict", one.taskId, one.epoch)?.body.approval?.needed ?? 0)
    .reduce((sum, byVerdict) => sum + Math.max(byRun, byVerdict), 0);
  return [
    ...Array.from({ length: needed }, (_, i) => ["approval", null, i + 1] as const),
    ...gatesBefore(run, taskId, epoch, seq),
  ];
}

/** Each skill that had to pass the change has judged it: a verdict about its tree. */
function gatesBefore(run: KnownRun, taskId: string, epoch: number, seq: number): Place[] {
  const verdict = run.get("verdict", taskId, epoch);
  const { gates = [], tree = null } = verdict?.body ?? {};
  return gates.map((gate) => passOf(run, gate, tree, { after: verdict?.seq ?? 0, before: seq }));
}

/** On a target branch that moved, each skill has judged each change as it stands there, after the clean room. */
function judgedAgain(run: KnownRun, epoch: number, seq: number): Place[] {
  const verdict = run.get("verdict", null, epoch);
  const between = { after: verdict?.seq ?? 0, before: seq };
  return (verdict?.body.replayed ?? []).flatMap(({ gates, tree }) =>
    gates.map((gate) => passOf(run, gate, tree, between)),
  );
}

/** The verdict with which a skill passed a tree; a register that does not exist if there is none. */
function passOf(
  run: KnownRun,
  gate: string,
  tree: string | null,
  { after, before }: { readonly after: number; readonly before: number },
): Place {
  const passed = run
    .all("verdict")
    .filter(({ seq }) => seq > after && seq < before)
    .findLast(({ taskId, body }) => taskId === gate && body.verdict === "PASS" && body.tree === tree);
  return ["verdict", gate, passed?.epoch ?? run.lastEpoch(gate) + 1];
}

function beforeDispatch({ taskId, epoch, body }: RecordOf<"dispatch">, run: KnownRun): Place[] {
  const places: Place[] = [];
  // It starts from the base of the run, or from what an earlier task landed.
  const base = run.get("intent", null, 0)?.body.base.commit;
  const built = run.all("verdict").find((one) => one.taskId !== null && one.body.commit === body.base.commit);
  if (base !== undefined && base !== body.base.commit && built !== undefined)
    places.push(["landing", built.taskId, built.epoch]);
  if (epoch <= 1) return places;
  if (run.isQuestion(taskId, epoch - 1))
    return [...places, ["verdict", taskId, epoch - 1], ["input", taskId, epoch - 1]];
  places.push(["result", taskId, epoch - 1]);
  const result = run.get("result", taskId, epoch - 1)?.body;
  if (result?.kind !== "reported") return places;
  if (result.result.status === "ok") places.push(["verdict", taskId, epoch - 1]);
  if (result.result.status === "needs_input") places.push(["input", taskId, epoch - 1]);
  return places;
}

function beforeClosed({ body }: RecordOf<"closed">, run: KnownRun): Place[] {
  const places: Place[] = [];
  if (body.status === "canceled") places.push(["cancel", null, 0]);
  if (body.status !== "succeeded") return places;
  places.push(["routed", null, 0]);
  for (const { task, gate } of run.get("routed", null, 0)?.body.tasks ?? []) {
    const { task_id } = task;
    if (gate !== undefined && !isAsked(task_id, gate.of, run)) continue;
    // The last verdict counts: a change that people sent back had passed before.
    const passed = run
      .all("verdict")
      .findLast((one) => one.taskId === task_id && one.body.verdict === "PASS");
    // A finished task without one lacks the verdict of its last attempt.
    if (passed === undefined) places.push(["verdict", task_id, Math.max(1, run.lastEpoch(task_id))]);
    else if (passed.body.commit !== null) places.push(["landing", task_id, passed.epoch]);
  }
  const whole = run.all("verdict").find((one) => one.taskId === null && one.body.verdict === "PASS");
  if (whole !== undefined) places.push(["landing", null, whole.epoch]);
  return places;
}

/** Whether the change that landed had to pass this skill. */
function isAsked(gate: string, of: string, run: KnownRun): boolean {
  const landed = run.all("landing").findLast(({ taskId, body }) => taskId === of && body.kind === "landed");
  const verdict = landed === undefined ? undefined : run.get("verdict", of, landed.epoch);
  return verdict?.body.gates?.includes(gate) === true;
}
