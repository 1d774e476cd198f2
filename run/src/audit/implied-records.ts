/**
 * Lists the records that must exist because others do: a claim implies a dispatch, a second attempt implies an end of
 * the first, a success implies its landings. Each rule holds in every legal run, also in one that two slow Directors
 * worked on, because a Director writes a record only after the records that lead to it.
 */
import type { StoredRecord, RunStep, RunViewModel, JournalAddress } from "@antiphon/contracts";

type Register = Pick<JournalAddress, "type" | "taskId" | "epoch">;
type Of<T extends StoredRecord["type"]> = Extract<StoredRecord, { type: T }>;

export interface Implied {
  readonly register: Register;
  /** The record or view that implies it, in words. */
  readonly by: string;
  /** It must come before this sequence. Null when a view implies it. */
  readonly before: number | null;
}

export const registerKey = ({ type, taskId, epoch }: Register): string =>
  `${type} ${taskId?.toLowerCase() ?? "-"} ${epoch}`;

export function impliedRecords(records: readonly StoredRecord[], view: RunViewModel | null): Implied[] {
  const run = new KnownRun(records);
  return [...records.flatMap((record) => byRecord(record, run)), ...byView(view, run)];
}

/** The records of a run by register. */
class KnownRun {
  readonly records: readonly StoredRecord[];
  readonly #byRegister: ReadonlyMap<string, StoredRecord>;

  constructor(records: readonly StoredRecord[]) {
    this.records = records;
    this.#byRegister = new Map(records.map((record) => [registerKey(record), record]));
  }

  get<T extends StoredRecord["type"]>(type: T, taskId: string | null, epoch: number): Of<T> | undefined {
    return this.#byRegister.get(registerKey({ type, taskId, epoch })) as Of<T> | undefined;
  }

  all<T extends StoredRecord["type"]>(type: T): Of<T>[] {
    return this.records.filter((record): record is Of<T> => record.type === type);
  }
}

function byRecord(record: StoredRecord, run: KnownRun): Implied[] {
  if (record.type === "intent") return [];
  const { taskId, epoch, seq } = record;
  const by = `${record.type}, seq ${seq}`;
  const asks = (type: Register["type"], task: string | null, at: number): Implied => ({
    register: { type, taskId: task, epoch: at },
    by,
    before: seq,
  });
  const start = [asks("intent", null, 0), ...(taskId === null ? [] : [asks("routed", null, 0)])];
  switch (record.type) {
    case "claim":
      return [...start, asks("dispatch", taskId, epoch)];
    case "result":
      return [
        ...start,
        asks("dispatch", taskId, epoch),
        ...(record.body.kind === "reported" ? [asks("claim", taskId, epoch)] : []),
      ];
    case "verdict":
      return [...start, ...beforeVerdict(record, run).map((one) => asks(...one))];
    case "landing":
      return [
        ...start,
        asks("verdict", taskId, epoch),
        ...beforeLanding(record, run).map((one) => asks(...one)),
      ];
    case "approval":
      return [
        ...start,
        asks("verdict", record.body.task, record.body.attempt),
        ...(epoch > 1 ? [asks(record.type, null, epoch - 1)] : []),
      ];
    case "dispatch":
      return [...start, ...beforeDispatch(record, run).map((one) => asks(...one))];
    case "message":
      return [
        ...start,
        asks("dispatch", record.body.task, record.body.attempt),
        ...(epoch > 1 ? [asks(record.type, null, epoch - 1)] : []),
      ];
    case "control":
    case "requeue":
      return [...start, ...(epoch > 1 ? [asks(record.type, null, epoch - 1)] : [])];
    case "closed":
      return [...start, ...beforeClosed(record, run).map((one) => asks(...one))];
    default:
      return start;
  }
}

type Place = readonly [type: Register["type"], taskId: string | null, epoch: number];

function beforeVerdict({ taskId, epoch, body }: Of<"verdict">, run: KnownRun): Place[] {
  if (taskId === null) return epoch > 1 ? [["landing", null, epoch - 1]] : [];
  // A Director that could not dispatch the task writes a verdict without an attempt.
  // A question about the run's checks stands for no attempt either.
  const handedOut = body.verdict === "PASS" || run.get("dispatch", taskId, epoch) !== undefined;
  return handedOut ? [["result", taskId, epoch]] : [];
}

/** Approvals are numbered by the run, so what the landed changes needed together is how many there are at least. */
function beforeLanding({ taskId, epoch, seq, body }: Of<"landing">, run: KnownRun): Place[] {
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
  return ["verdict", gate, passed?.epoch ?? nextEpoch(gate, run)];
}

/** A register that no record of the task has taken. */
function nextEpoch(taskId: string, run: KnownRun): number {
  return 1 + Math.max(0, ...run.records.filter((one) => one.taskId === taskId).map(({ epoch }) => epoch));
}

function beforeDispatch({ taskId, epoch, body }: Of<"dispatch">, run: KnownRun): Place[] {
  const places: Place[] = [];
  // It starts from the base of the run, or from what an earlier task landed.
  const base = run.get("intent", null, 0)?.body.base.commit;
  const built = run.all("verdict").find((one) => one.taskId !== null && one.body.commit === body.base.commit);
  if (base !== undefined && base !== body.base.commit && built !== undefined)
    places.push(["landing", built.taskId, built.epoch]);
  if (epoch <= 1) return places;
  if (isQuestion(run, taskId, epoch - 1))
    return [...places, ["verdict", taskId, epoch - 1], ["input", taskId, epoch - 1]];
  places.push(["result", taskId, epoch - 1]);
  const result = run.get("result", taskId, epoch - 1)?.body;
  if (result?.kind !== "reported") return places;
  if (result.result.status === "ok") places.push(["verdict", taskId, epoch - 1]);
  if (result.result.status === "needs_input") places.push(["input", taskId, epoch - 1]);
  return places;
}

/**
 * The Director asked what proves the run, in place of an attempt. If the question itself is lost, an answer without any record of
 * an attempt tells of it, so that no attempt is missed that never was.
 */
function isQuestion(run: KnownRun, taskId: string | null, epoch: number): boolean {
  const verdict = run.get("verdict", taskId, epoch);
  if (verdict !== undefined) return verdict.body.asks !== undefined;
  return run.get("input", taskId, epoch) !== undefined && !hasAttempt(run, taskId, epoch);
}

function hasAttempt(run: KnownRun, taskId: string | null, epoch: number): boolean {
  return (["dispatch", "claim", "result"] as const).some(
    (type) => run.get(type, taskId, epoch) !== undefined,
  );
}

function beforeClosed({ body }: Of<"closed">, run: KnownRun): Place[] {
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
    if (passed === undefined) places.push(...lastWords(task_id, run));
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

/** A finished task without a passing verdict lacks the verdict of its last attempt. */
function lastWords(taskId: string, run: KnownRun): Place[] {
  const epochs = run.records.filter((record) => record.taskId === taskId).map(({ epoch }) => epoch);
  return [["verdict", taskId, Math.max(1, ...epochs)]];
}

/** The view is written after the journal, so every record it shows was stored. It may lag behind. */
function byView(view: RunViewModel | null, run: KnownRun): Implied[] {
  if (view === null) return [];
  const by = "the view in ANT_RUNS";
  const over = view.status === "succeeded" || view.status === "failed" || view.status === "canceled";
  const places: Place[] = [["intent", null, 0]];
  if (view.steps.length > 0) places.push(["routed", null, 0]);
  if (over) places.push(["closed", null, 0]);
  for (const step of view.steps) places.push(...(asks(step, run) ? ofQuestion(step) : ofStep(step)));
  return places
    .filter(([type, taskId, epoch]) => run.get(type, taskId, epoch) === undefined)
    .map(([type, taskId, epoch]) => ({ register: { type, taskId, epoch }, by, before: null }));
}

/** The step shows a question of the Director: nobody has held an attempt of it. */
function asks({ id, epoch, questions, associate }: RunStep, run: KnownRun): boolean {
  if (isQuestion(run, id, epoch)) return true;
  return questions.length > 0 && associate === null && !hasAttempt(run, id, epoch);
}

function ofQuestion({ id, epoch }: RunStep): Place[] {
  return [["verdict", id, epoch]];
}

function ofStep({ id, epoch, associate, status, commit, questions }: RunStep): Place[] {
  if (epoch < 1) return [];
  const places: Place[] = [["dispatch", id, epoch]];
  if (associate !== null) places.push(["claim", id, epoch]);
  if (status === "proposed" || questions.length > 0) places.push(["result", id, epoch]);
  if (status === "done") places.push(["verdict", id, epoch]);
  if (status === "done" && commit !== null) places.push(["landing", id, epoch]);
  return places;
}
