// Turns a person's message to a running attempt into its record, or into the reason for refusing it. Pure: it judges by all
// records of the run, and is asked again after a lost race, so two people at once get two numbers.
import {
  AntiphonError,
  hears,
  limits,
  type JournalRecordOf,
  type NewRecord,
  type StoredRecord,
} from "@antiphon/contracts";
import type { RunFacts } from "@antiphon/run";
import type { Message } from "./side-event.ts";

type Stored<T extends StoredRecord["type"]> = Extract<StoredRecord, { type: T }>;

export interface Addressed {
  readonly task: string;
  readonly attempt: number;
  /** Null: the same sender has already sent it under this key. */
  readonly record: NewRecord | null;
}

export function messageOf(
  records: readonly StoredRecord[],
  { runId, closed, cancel }: RunFacts,
  message: Message,
  by: string,
): Addressed {
  const all = of(records, "message");
  const sent = all.find(({ body }) => message.key !== null && body.key === message.key && body.by === by);
  if (sent !== undefined) return { task: sent.body.task, attempt: sent.body.attempt, record: null };
  if (closed !== null)
    throw new AntiphonError("ANT_RUN_TERMINAL", `${runId} is over: ${closed.status}`, {
      data: { status: closed.status },
    });
  if (cancel !== null) throw nobody(`${cancel.by} has canceled the run`);
  const { taskId, epoch, body } = listener(records, message.task, runId);
  if (taskId === null) throw nobody(`${runId} has no task`);
  const name = body.agent.kind === "pack" ? body.agent.name : body.agent.kind;
  const isDeaf = !hears(body.agent, body.task.commands);
  if (isDeaf) throw unheard(`the agent ${name} of ${taskId} reads no messages`, taskId, name);
  if (all.length >= limits.runMessages)
    throw new AntiphonError("ANT_MESSAGE_LIMIT", `${runId} has had ${all.length} messages`);
  const { text, key } = message;
  const words = { task: taskId, attempt: epoch, text, by, ...(key === null ? {} : { key }) };
  const n = 1 + (all.at(-1)?.epoch ?? 0);
  return {
    task: taskId,
    attempt: epoch,
    record: { type: "message", runId, taskId: null, epoch: n, cause: null, body: words },
  };
}

/** The attempt under way: dispatched, and without a result. A skill that judges a change hears nobody. */
function listener(
  records: readonly StoredRecord[],
  task: string | null,
  runId: string,
): JournalRecordOf<"dispatch"> {
  const results = of(records, "result");
  const open = of(records, "dispatch").filter(
    ({ taskId, epoch }) => !results.some((one) => one.taskId === taskId && one.epoch === epoch),
  );
  const isMeant = ({ taskId }: { taskId: string | null }): boolean =>
    task === null || taskId?.toLowerCase() === task.toLowerCase();
  const working = open.filter(({ body }) => body.gate === undefined);
  const [only, another] = working.filter(isMeant);
  const judge = open.find((one) => one.body.gate !== undefined && isMeant(one));
  if (only === undefined && judge !== undefined) {
    const { taskId } = judge;
    throw unheard(`${taskId} judges a change, and a judge hears nobody`, taskId, judge.body.gate?.skill);
  }
  if (only === undefined) throw nobody(`no attempt of ${task ?? runId} is under way`);
  if (another === undefined) return only;
  const tasks = working.map(({ taskId }) => taskId);
  throw new AntiphonError(
    "ANT_MESSAGE_NO_ATTEMPT",
    `several tasks are worked on; name one with "task": ${tasks.join(", ")}`,
    { data: { tasks } },
  );
}

function of<T extends StoredRecord["type"]>(records: readonly StoredRecord[], type: T): Stored<T>[] {
  return records.filter((record): record is Stored<T> => record.type === type);
}

function nobody(why: string): AntiphonError {
  return new AntiphonError("ANT_MESSAGE_NO_ATTEMPT", why);
}

function unheard(why: string, task: string | null, agent: string | undefined): AntiphonError {
  return new AntiphonError("ANT_MESSAGE_UNHEARD", why, { data: { task, agent } });
}
