/** Folds one record into the facts of a run. Nothing is judged here: a record is kept with the attempt that it names. */
import type { EvidenceRef, JournalType } from "@antiphon/contracts";
import { afterWord, openApproval } from "@antiphon/contracts/runs/step-approval";
import { parseTraceparent } from "@antiphon/contracts/tracing/trace-context";
import {
  askedOf,
  NO_GATES,
  noFacts,
  timeOf,
  type Attempt,
  type EvidenceFact,
  type PersonsWord,
  type ReadRecord,
  type RunFacts,
  type TaskFacts,
} from "./run-facts.ts";

type Read<T extends JournalType> = Extract<ReadRecord, { type: T }>;

/** Lists that a fold over many records has made, which nobody else has seen yet; null: each fold makes its own. */
type Own = WeakSet<object> | null;

/** Takes time in proportion to the records: a list that grew in this fold is changed in place. */
export function factsOf(records: readonly ReadRecord[]): RunFacts {
  const own: Own = new WeakSet();
  return records.reduce((facts, record) => folded(facts, record, own), noFacts(records[0]?.runId ?? ""));
}

/** `facts` stay as they are. */
export function foldFacts(facts: RunFacts, record: ReadRecord): RunFacts {
  return folded(facts, record, null);
}

function folded(facts: RunFacts, record: ReadRecord, own: Own): RunFacts {
  switch (record.type) {
    case "intent": {
      const traceId = parseTraceparent(record.traceparent)?.traceId ?? null;
      return { ...facts, intent: record.body, openedAt: record.at, traceId };
    }
    case "routed": {
      const { body } = record;
      if (facts.closed !== null) return { ...facts, routed: body };
      return { ...facts, routed: body, tasks: body.tasks.map((planned) => ({ planned, attempts: [] })) };
    }
    case "dispatch":
      return withAttempt(facts, record, own, (attempt) => ({ ...attempt, dispatched: true }));
    case "claim":
      return withAttempt(facts, record, own, (attempt) => ({ ...attempt, associate: record.body.associate }));
    case "result": {
      const { body } = record;
      const next = withAttempt(facts, record, own, (attempt) => ({ ...attempt, result: body }));
      if (body.kind !== "reported") return next;
      return withEvidence(next, record, own, body.evidence, { kind: "attempt", patch: body.patch });
    }
    case "verdict": {
      const { evidence, verdict } = record.body;
      const next = withSkillsWord(
        withAttempt(facts, record, own, (attempt) => judged(facts, attempt, record)),
        record,
        own,
      );
      return evidence === null
        ? next
        : withEvidence(next, record, own, evidence, { kind: "verdict", verdict });
    }
    case "landing":
      return landed(facts, record, own);
    case "due":
      if (record.body.kind !== "rest") return facts;
      return withAttempt(facts, record, own, (attempt) => ({ ...attempt, rested: true }));
    case "input": {
      const { taskId, epoch, at, body } = record;
      const answer = { at: timeOf(at), body };
      const next = withAttempt(facts, record, own, (attempt) => ({ ...attempt, answer }));
      if (taskId === null) return next;
      const { type } = record;
      return withWord(next, own, {
        type,
        by: body.by,
        choice: body.choice ?? body.event,
        instructs: body.instructs === true,
        at,
        task: taskId,
        epoch,
      });
    }
    case "approval": {
      const { type, at, body } = record;
      const { task, attempt: epoch, by, choice } = body; // Approvals are numbered by the run.
      const next = withAttempt(facts, { taskId: task, epoch }, own, (attempt) =>
        attempt.approval === null
          ? attempt
          : { ...attempt, approval: afterWord(attempt.approval, body, timeOf(at), askedOf(facts)) },
      );
      return withWord(next, own, { type, by, choice, instructs: false, at, task, epoch });
    }
    case "cancel":
      return { ...facts, cancel: record.body };
    case "control":
      return { ...facts, control: { n: record.epoch, kind: record.body.kind } };
    case "message":
      return { ...facts, messages: [...facts.messages, messageIn(record)] };
    case "requeue":
      return { ...facts, requeues: facts.requeues + 1 };
    case "closed":
      return { ...facts, closed: { ...record.body, at: record.at } };
    case "archived":
    case "restored":
      return facts; // They tell where the records are.
  }
}

function messageIn({ epoch: n, body, at }: Read<"message">): RunFacts["messages"][number] {
  const { task, attempt, by, text } = body;
  return { n, task, attempt, by, text, at };
}

function judged(facts: RunFacts, attempt: Attempt, { body, digest }: Read<"verdict">): Attempt {
  const { asks, message } = body;
  if (asks !== undefined && !attempt.dispatched) return { ...attempt, criteria: { asks, message } };
  const approval = openApproval(digest, body, askedOf(facts));
  return { ...attempt, verdict: body, approval };
}

/** Keeps a skill's findings with the change that they are about. */
function withSkillsWord(facts: RunFacts, { taskId, body }: Read<"verdict">, own: Own): RunFacts {
  const gate = facts.tasks?.find(({ planned }) => planned.task.task_id === taskId)?.planned.gate;
  const about = facts.tasks?.find(({ planned }) => planned.task.task_id === gate?.of)?.attempts.at(-1);
  if (gate === undefined || taskId === null || about === undefined || about.verdict === null) return facts;
  if (about.landing !== null) return facts; // It is judged again, on the target branch.
  const { gates: asked = [], tree } = about.verdict;
  if (tree !== body.tree || !asked.includes(taskId)) return facts;
  return withAttempt(facts, { taskId: gate.of, epoch: about.epoch }, own, (attempt) => {
    const { gates, approval } = attempt;
    if (body.verdict === "PASS")
      return { ...attempt, gates: { ...gates, passed: [...gates.passed, taskId] } };
    if (body.code !== "ANT_GATE_BLOCKED") return attempt;
    const sentBack = approval?.state === "pending" ? { ...approval, state: "changes" as const } : approval;
    const blocked = { code: body.code, message: body.message };
    return { ...attempt, gates: { ...gates, blocked }, approval: sentBack };
  });
}

/** Without a task it is the landing on the branch that the caller asked for, which `closed` names. */
function landed(facts: RunFacts, record: Read<"landing">, own: Own): RunFacts {
  const { body, taskId } = record;
  const next = withAttempt(facts, record, own, (attempt) => ({ ...attempt, landing: body }));
  return taskId !== null && body.kind === "landed" ? { ...next, landed: body } : next;
}

/** The facts with a changed attempt. After the end nothing changes, and a stale epoch changes nothing: run/R2, run/R3. */
function withAttempt(
  facts: RunFacts,
  { taskId, epoch }: { readonly taskId: string | null; readonly epoch: number },
  own: Own,
  change: (attempt: Attempt) => Attempt,
): RunFacts {
  const { tasks, closed } = facts;
  if (taskId === null || tasks === null || closed !== null) return facts;
  const index = tasks.findIndex(({ planned }) => planned.task.task_id === taskId);
  const task = tasks[index];
  if (task === undefined) return facts;
  const attempts = changed(task.attempts, epoch, own, change);
  return attempts === null ? facts : { ...facts, tasks: replaced(tasks, index, { ...task, attempts }, own) };
}

function changed(
  attempts: TaskFacts["attempts"],
  epoch: number,
  own: Own,
  change: (attempt: Attempt) => Attempt,
): TaskFacts["attempts"] | null {
  const newest = attempts.at(-1);
  if (newest === undefined || epoch > newest.epoch) return grown(attempts, change(newAttempt(epoch)), own);
  return epoch < newest.epoch ? null : replaced(attempts, attempts.length - 1, change(newest), own);
}

function grown<T>(list: readonly T[], item: T, own: Own): readonly T[] {
  const ours = own?.has(list) === true ? (list as T[]) : [...list];
  own?.add(ours);
  ours.push(item);
  return ours;
}

function replaced<T>(list: readonly T[], index: number, item: T, own: Own): readonly T[] {
  const ours = own?.has(list) === true ? (list as T[]) : [...list];
  own?.add(ours);
  ours[index] = item;
  return ours;
}

function newAttempt(epoch: number): Attempt {
  return {
    epoch,
    dispatched: false,
    associate: null,
    result: null,
    verdict: null,
    criteria: null,
    approval: null,
    gates: NO_GATES,
    answer: null,
    landing: null,
    rested: false,
  };
}

function withEvidence(
  facts: RunFacts,
  { taskId, epoch }: Read<"result" | "verdict">,
  own: Own,
  ref: EvidenceRef,
  from: EvidenceFact["from"],
): RunFacts {
  if (taskId === null) return facts;
  const fact = { taskId, epoch, ref, from, isLate: facts.closed !== null };
  return { ...facts, evidence: grown(facts.evidence, fact, own) };
}

const withWord = (facts: RunFacts, own: Own, word: PersonsWord): RunFacts => ({
  ...facts,
  words: grown(facts.words, word, own),
});
