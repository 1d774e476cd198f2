/**
 * I5: each history is a legal run of the machine, and replays to the same state. The run is judged twice, by the
 * checker's own transition table and by the Director's pure code, and the two results are compared.
 */
import { canonicalJson, digestOf, limits, type StoredRecord } from "@antiphon/contracts";
import { closingOf } from "../../../run/src/owed/closing.ts";
import { openRun, replay, type RunSnapshot } from "../../../run/src/machine/replay.ts";
import { violation, type Invariant, type RunFacts, type Violation } from "./invariant.ts";
import { LegalRun } from "./legal-run.ts";

type Closed = Extract<StoredRecord, { type: "closed" }>;

export const I5: Invariant = {
  id: "I5",
  title: "each history is a legal run of the machine, and replays to the same state",
  ofRun(run: RunFacts) {
    if (run.records.length === 0) return [];
    const broken = [...registers(run), ...causes(run)];
    const legal = LegalRun.of(run.records);
    const illegal = legal.illegal.map((words) => violation("I5", run.runId, words));
    if (broken.length + illegal.length > 0) return [...broken, ...illegal];
    return [...sameTasks(run, legal), ...sameClosing(run)];
  },
};

/** Each register holds one record. */
function registers(run: RunFacts): Violation[] {
  const seen = new Map<string, number>();
  return run.records.flatMap((record) => {
    const register = `${record.type} ${record.taskId ?? "-"} ${record.epoch}`;
    const earlier = seen.get(register);
    seen.set(register, record.seq);
    if (earlier === undefined) return [];
    return [at(run, "register-twice", [earlier, record.seq], `${register} was written twice`)];
  });
}

/** The cause that a record names precedes it in the journal and has the named digest. */
function causes(run: RunFacts): Violation[] {
  const bySeq = new Map(run.records.map((record) => [record.seq, record]));
  return run.records.flatMap((record) => {
    if (record.cause === null) return [];
    const cause = bySeq.get(record.cause.seq);
    if (cause !== undefined && cause.seq < record.seq && cause.digest === record.cause.digest) return [];
    const what = `the cause of ${record.type} (seq ${record.cause.seq}) is not in the journal before it`;
    return [at(run, "no-cause", [record.seq], what)];
  });
}

function snapshotOf(run: RunFacts, records: readonly StoredRecord[]): RunSnapshot {
  const intent = records.find((record) => record.type === "intent");
  const maxAttempts = intent?.type === "intent" ? intent.body.options.max_attempts : limits.maxAttempts;
  const { maxLapses, maxOutages } = limits;
  const policy = { maxAttempts, maxLapses, maxOutages, maxIntegrations: 3 };
  return replay(openRun(run.runId, policy), records);
}

/** The Director's own replay ends where the table ends. */
function sameTasks(run: RunFacts, legal: LegalRun): Violation[] {
  const { tasks } = snapshotOf(run, run.records).context;
  return tasks.flatMap(({ planned, phase }) => {
    const id = planned.task.task_id;
    const life = legal.tasks.get(id);
    if (life?.phase === phase.kind && life.epoch === phase.epoch) return [];
    const what = `${id} replays to ${phase.kind} at epoch ${phase.epoch}, the table has ${life?.phase} at ${life?.epoch}`;
    return [
      at(
        run,
        "replay-differs",
        run.records.map(({ seq }) => seq),
        what,
      ),
    ];
  });
}

/** The closing record agrees with a replay of exactly the records under its seal. */
function sameClosing(run: RunFacts): Violation[] {
  const closed = run.records.find((record): record is Closed => record.type === "closed");
  if (closed === undefined) return [];
  const before = run.records.filter(({ seq }) => seq < closed.seq);
  const sealed = sealedPrefix(before, closed.body.seal);
  if (sealed === null)
    return [at(run, "seal-broken", [closed.seq], "the seal fits no prefix of the run's records")];
  const { context } = snapshotOf(run, sealed);
  const again = closingOf(context);
  if (canonicalJson(again) === canonicalJson(closed.body)) return [];
  const what = `closed as ${closed.body.status} (${closed.body.message}), replayed as ${again.status} (${again.message})`;
  return [at(run, "closing-differs", [closed.seq], what)];
}

/** The records that the closing Director had read; others may have been written meanwhile. */
function sealedPrefix(before: readonly StoredRecord[], seal: string): StoredRecord[] | null {
  for (let count = before.length; count > 0; count -= 1) {
    const prefix = before.slice(0, count);
    const digests = prefix.map(({ digest }) => digest);
    if (digestOf(new TextEncoder().encode(canonicalJson(digests))) === seal) return prefix;
  }
  return null;
}

function at(run: RunFacts, rule: string, seqs: number[], what: string): Violation {
  return violation("I5", run.runId, { rule, seqs, what });
}
