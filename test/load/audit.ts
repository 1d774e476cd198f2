/** Reads the whole journal back after the load: times of the stages, and lost or doubled work. */
import {
  decode,
  journalStream,
  parseJournalSubject,
  type JournalRecord,
  type JournalType,
} from "@antiphon/contracts";
import type { Bus } from "@antiphon/runtime";

export interface Audit {
  readonly records: number;
  /** Size of each stored record of one typical run: payload and headers. */
  readonly sizes: number[];
  readonly stages: ReadonlyMap<string, number[]>;
  readonly lost: string[];
  readonly doubled: string[];
  readonly failed: string[];
  /** Attempts beyond the first of a task, which are repeated work. */
  readonly again: number;
  /** `at` of every record of every run, for the killer's report. */
  readonly times: ReadonlyMap<string, number[]>;
}

interface Seen {
  readonly type: JournalType;
  readonly task: string | null;
  readonly epoch: number;
  readonly atMs: number;
  readonly bytes: number;
  readonly record: JournalRecord;
}

export async function audit(bus: Bus, runIds: readonly string[], steps: number): Promise<Audit> {
  const runs = new Map<string, Seen[]>(runIds.map((runId) => [runId, []]));
  let records = 0;
  for await (const { runId, seen } of everything(bus)) {
    const run = runs.get(runId);
    if (run === undefined) continue;
    run.push(seen);
    records += 1;
  }
  const stages = new Map<string, number[]>();
  const result = { lost: [] as string[], doubled: [] as string[], failed: [] as string[] };
  let again = 0;
  for (const [runId, run] of runs) {
    again += run.filter(({ type, epoch }) => type === "dispatch" && epoch > 1).length;
    judge(runId, run, steps, result);
    timeStages(run, stages);
  }
  const typical = [...runs.values()][0] ?? [];
  return {
    records,
    sizes: typical.map(({ bytes }) => bytes),
    stages,
    again,
    ...result,
    times: new Map([...runs].map(([runId, run]) => [runId, run.map(({ atMs }) => atMs)])),
  };
}

async function* everything(bus: Bus): AsyncGenerator<{ runId: string; seen: Seen }> {
  for (let partition = 0; partition < bus.partitions; partition += 1) {
    const stream = journalStream(partition);
    for (let seq = 1; ;) {
      const query = { filter: `antiphon.v1.run.${partition}.>`, seq, batch: 1024, maxBytes: 4 * 1024 * 1024 };
      const page = await bus.reader.next(stream, query);
      for (const message of page.messages) {
        const address = parseJournalSubject(message.subject);
        if (address === null) throw new Error(`${message.subject} is in the journal`);
        const { type, taskId: task, epoch, runId } = address;
        const record = decode(message.data) as JournalRecord;
        const atMs = preciseMs(message.header("Nats-Time-Stamp"));
        yield { runId, seen: { type, task, epoch, atMs, bytes: message.data.length + 330, record } };
      }
      const last = page.messages.at(-1);
      if (last === undefined || page.pending === 0) break;
      seq = last.seq + 1;
    }
  }
}

/** RFC 3339 with nanoseconds; Date knows milliseconds only. */
function preciseMs(stamp: string): number {
  const [whole = "", fraction = ""] = stamp.replace("Z", "").split(".");
  return Date.parse(`${whole}Z`) + Number(`0.${fraction === "" ? "0" : fraction}`) * 1000;
}

function judge(
  runId: string,
  run: readonly Seen[],
  steps: number,
  result: { lost: string[]; doubled: string[]; failed: string[] },
): void {
  const bodies = <T extends JournalType>(type: T): Extract<JournalRecord, { type: T }>["body"][] =>
    run.flatMap(({ record }) => (record.type === type ? [record.body as never] : []));
  const closed = bodies("closed");
  if (closed.length === 0) return void result.lost.push(runId);
  if (closed.length > 1) result.doubled.push(`${runId}: ${closed.length} endings`);
  if (closed[0]?.status !== "succeeded") result.failed.push(`${runId}: ${closed[0]?.message ?? ""}`);
  const passed = run.filter(({ record }) => record.type === "verdict" && record.body.verdict === "PASS");
  const landed = run.filter(({ record }) => record.type === "landing" && record.body.kind === "landed");
  for (const [what, seen] of [
    ["accepted", passed],
    ["landed", landed],
  ] as const) {
    const tasks = new Set(seen.map(({ task }) => task));
    if (tasks.size !== seen.length) result.doubled.push(`${runId}: a task ${what} twice`);
  }
  if (new Set(passed.map(({ task }) => task)).size !== steps)
    result.lost.push(`${runId}: a task without a verdict`);
}

const STEPS: readonly (readonly [JournalType, JournalType])[] = [
  ["intent", "routed"],
  ["routed", "dispatch"],
  ["dispatch", "claim"],
  ["claim", "result"],
  ["result", "verdict"],
  ["verdict", "landing"],
  ["verdict", "dispatch"],
  ["landing", "dispatch"],
  ["verdict", "closed"],
  ["landing", "closed"],
];

/** Times from each record to the one it led to, and from the first to the last. */
function timeStages(run: readonly Seen[], stages: Map<string, number[]>): void {
  const add = (stage: string, ms: number): void => {
    const values = stages.get(stage);
    if (values === undefined) stages.set(stage, [ms]);
    else values.push(ms);
  };
  for (let i = 1; i < run.length; i += 1) {
    const [before, now] = [run[i - 1], run[i]];
    if (before === undefined || now === undefined) continue;
    if (STEPS.some(([from, to]) => before.type === from && now.type === to))
      add(`${before.type} to ${now.type}`, now.atMs - before.atMs);
  }
  const [first, last] = [run[0], run.at(-1)];
  const claim = run.find(({ type }) => type === "claim");
  if (first?.type === "intent" && claim !== undefined) add("intent to claim", claim.atMs - first.atMs);
  if (first?.type === "intent" && last?.type === "closed") add("intent to closed", last.atMs - first.atMs);
}
