// The sentence of the command line for each type of record. Pure.
import type { CheckOutcome, JournalType, VerdictBody } from "@antiphon/contracts";
import { attemptWords } from "@antiphon/run/facts/first-attempt";
import type { RunFacts } from "@antiphon/run/facts/run-facts";
import type { RunRecord } from "../gateway/gateway-client.ts";
import type { LiveOutput } from "../gateway/run-stream.ts";
import { branch, firstLine, short } from "../screen/short-forms.ts";
import { duration } from "../screen/table.ts";

export interface Line {
  readonly mark: "step" | "good" | "bad" | "wait";
  /** The task, or null for the whole run. */
  readonly task: string | null;
  readonly text: string;
}

type RecordOf<T extends JournalType> = Extract<RunRecord, { type: T }>;
type Say = (mark: Line["mark"], text: string) => Line[];

/** The attempts of the run so far, the record among them. */
type Facts = Pick<RunFacts, "tasks">;

interface Sentence<T extends JournalType> {
  /** The lines that tell of the record. */
  tell(record: RecordOf<T>, say: Say, facts: Facts): Line[];
  /** What the run does after the record, for the status line. */
  next(record: RecordOf<T>): string;
}

const DIRECTOR_NEXT = (): string => "waiting for the Director";
/** The summary tells of it. */
const SILENT = { tell: () => [], next: () => "" };

const SENTENCES: { readonly [T in JournalType]: Sentence<T> } = {
  intent: { tell: ({ body }, say) => accepted(body, say), next: () => "waiting for the Router" },
  routed: { tell: ({ body }) => routed(body), next: DIRECTOR_NEXT },
  dispatch: {
    tell: ({ taskId, epoch, body }, say, facts) =>
      say("step", dispatched(attemptWords(facts, taskId, epoch), body)),
    next: (record) => `${of(record)}waiting for an Associate`,
  },
  claim: {
    tell: ({ body }, say) => say("step", `claimed by ${body.associate}`),
    next: (record) => `${of(record)}working in a sandbox`,
  },
  result: { tell: result, next: afterResult },
  verdict: {
    tell: verdict,
    next: (record) => (record.body.verdict === "PASS" ? `${of(record)}landing` : DIRECTOR_NEXT()),
  },
  approval: { tell: ({ body }, say) => decided(body, say), next: DIRECTOR_NEXT },
  landing: {
    tell: ({ taskId, body }, say) =>
      body.kind === "refused"
        ? say("bad", `not landed: ${body.message} (${body.code})`)
        : say("good", `landed as ${short(body.commit)} on ${branch(body.ref)}${newWords(taskId, body)}`),
    next: DIRECTOR_NEXT,
  },
  input: {
    tell: ({ body }, say) => (body.event === "approval" ? decided(body, say) : answered(body, say)),
    next: DIRECTOR_NEXT,
  },
  message: {
    tell: ({ body: { by, task, attempt, text } }, say) =>
      say("step", `${by} told attempt ${attempt} of ${task}: ${firstLine(text)}`),
    next: ({ body: { task } }) => `${task}: working in a sandbox`,
  },
  cancel: {
    tell: ({ body: { by, reason } }, say) =>
      say("bad", `cancel requested by ${by}${reason === "" ? "" : `: ${reason}`}`),
    next: () => "stopping",
  },
  control: {
    tell: ({ body }, say) => control(body, say),
    next: ({ body }) => (body.kind === "pause" ? "paused" : DIRECTOR_NEXT()),
  },
  requeue: {
    tell: ({ body: { consumer, by, code } }, say) =>
      say("step", `requeued for the ${consumer} by ${by}, after ${code ?? "a dead letter"}`),
    next: DIRECTOR_NEXT,
  },
  due: {
    tell: ({ body }, say) =>
      body.kind === "rest"
        ? say("step", "retry delay over; dispatching")
        : say("bad", "no answer arrived in time"),
    next: DIRECTOR_NEXT,
  },
  closed: SILENT,
  archived: SILENT,
  restored: SILENT,
};

/** The table has one row for each type, so the row fits the record. */
const sentenceOf = (record: RunRecord) => SENTENCES[record.type] as Sentence<JournalType>;

export function narrate(record: RunRecord, facts: Facts): Line[] {
  const task = record.type === "approval" ? record.body.task : record.taskId;
  return sentenceOf(record).tell(record, (mark, text) => [{ mark, task, text }], facts);
}

/** The status line: the newest progress message, or the service the run is waiting for. */
export function doingNow(last: RunRecord | undefined, progress: LiveOutput | null): string {
  if (progress === null) return last === undefined ? "waiting for the gateway" : sentenceOf(last).next(last);
  return `${progress.taskId ?? "run"}: ${progress.text.replaceAll(/\s+/g, " ")}`;
}

/** `before`: the last progress message, which may be of something that has ended; null: there was none. */
export function stillAt(doing: string, before: string | null, forMs: number): string {
  const last = before === null ? "" : `; last: ${before}`;
  return `still ${doing} (nothing new for ${Math.round(forMs / 1_000)} s${last})`;
}

const of = ({ taskId }: RunRecord): string => (taskId === null ? "" : `${taskId}: `);

function routed({ workflow, reason, tasks, ...choice }: RecordOf<"routed">["body"]): Line[] {
  const text = `${workflow}, ${tasks.length} task${tasks.length === 1 ? "" : "s"} (${reason})`;
  const heads: Line[] = [{ mark: "step", task: null, text }];
  const [other] = choice.alternatives ?? [];
  if (choice.unsure === true && other !== undefined) {
    const doubt = `${workflow} is a guess (${percent(choice.confidence)}); it may be ${other.workflow} (${percent(other.confidence)})`;
    heads.push({
      mark: "wait",
      task: null,
      text: `${doubt}: if so, run it again with --workflow ${other.workflow}`,
    });
  }
  if (tasks.length <= 1) return heads;
  const each = tasks.map(({ task, deps }): Line => {
    const after = deps.length === 0 ? "" : ` (after ${deps.join(", ")})`;
    return { mark: "step", task: task.task_id, text: `planned: ${firstLine(task.instruction)}${after}` };
  });
  return [...heads, ...each];
}

/** The run's own branch is always new. One that a person named may be a mistake of typing. */
function newWords(taskId: string | null, { previous }: { readonly previous: string | null }): string {
  return taskId === null && previous === null ? ", which is a new branch" : "";
}

const percent = (share: number): string => `${Math.round(share * 100)} %`;

function dispatched(attempt: string, { agent, feedback }: RecordOf<"dispatch">["body"]): string {
  const because = feedback.at(-1)?.message;
  const who = agent.kind === "pack" ? ` by ${agent.name}` : "";
  return `${attempt}${who}${because === undefined ? "" : `, with feedback: ${firstLine(because)}`}`;
}

type Input = RecordOf<"input">["body"];

function answered({ by, choice, answers }: Input, say: Say): Line[] {
  return say("step", `answered by ${by}: ${choice ?? answers.join("; ")}`);
}

/** A person's choice, with its reason or answers. */
function decided({ by, choice, reason = "", ...more }: Decided, say: Say): Line[] {
  const words = reason === "" ? (more.answers ?? []).join("; ") : reason;
  const why = words === "" ? "" : `: ${firstLine(words)}`;
  if (choice === "approve") return say("good", `approved by ${by}${why}`);
  if (choice === "reject") return say("bad", `rejected by ${by}${why}`);
  if (choice === "changes") return say("wait", `changes requested by ${by}${why}`);
  return say("step", `answered by ${by}: ${choice ?? words}`);
}

interface Decided {
  readonly by: string;
  readonly choice?: string;
  readonly reason?: string;
  readonly answers?: readonly string[];
}

function control({ kind, by, reason }: RecordOf<"control">["body"], say: Say): Line[] {
  const why = reason === undefined || reason === "" ? "" : `: ${reason}`;
  return kind === "pause"
    ? say("wait", `paused by ${by}${why}; attempts already running may finish`)
    : say("step", `resumed by ${by}${why}`);
}

function afterResult(record: RecordOf<"result">): string {
  const { body } = record;
  if (body.kind === "abandoned" && body.outage === true)
    return `${of(record)}waiting to retry; no sandbox available (${body.code})`;
  return body.kind === "reported" && body.result.status === "ok"
    ? `${of(record)}verifying in a clean room`
    : DIRECTOR_NEXT();
}

function result({ body, epoch }: RecordOf<"result">, say: Say): Line[] {
  if (body.kind === "lapsed") return say("bad", `attempt ${epoch} lost: ${body.holder} stopped responding`);
  if (body.kind === "abandoned" && body.outage === true)
    return say("wait", `no sandbox available: ${body.message} (${body.code})`);
  if (body.kind === "abandoned")
    return say("bad", `attempt ${epoch} given up: ${body.message} (${body.code})`);
  const { status, summary, files_changed: files, verify, questions } = body.result;
  if (status === "needs_input") return questions.flatMap((question) => say("wait", `asks: ${question}`));
  if (status === "failed")
    return say("bad", `attempt ${epoch} failed: ${withCode(firstLine(summary), body.code)}`);
  const count = `${files.length} file${files.length === 1 ? "" : "s"} changed`;
  const own = { pass: "own check passed", fail: "own check failed", unknown: "no own check" }[verify.status];
  return say("step", `proposes: ${count}, ${own}; now the clean room`);
}

function verdict({ body }: RecordOf<"verdict">, say: Say): Line[] {
  if (body.asks !== undefined) return body.asks.flatMap(({ question }) => say("wait", `asks: ${question}`));
  const mark = body.verdict === "PASS" || body.commit !== null ? "good" : "bad";
  const checks = body.checks.map(check).join("; ");
  // A plain PASS shows only its checks; any other verdict shows its reason.
  const isPlain = body.code === null && body.verdict === "PASS";
  // A plan or a review has no change that a check could prove.
  const isChange = body.commit !== null || body.checks.length > 0;
  const why = isPlain && isChange ? "" : withCode(firstLine(body.message), body.code);
  const proof = body.verdict === "PASS" && isChange ? proofOf(body) : "";
  const because = [why, checks, proof].filter((part) => part !== "").join("; ");
  return say(mark, `clean room: ${body.verdict}${because === "" ? "" : `: ${because}`}`);
}

function accepted({ base, options }: RecordOf<"intent">["body"], say: Say): Line[] {
  const ref = base.ref === base.commit ? "" : ` (${branch(base.ref)})`; // A fork begins at a commit.
  const where = say("step", `accepted: ${base.repo.path} at ${short(base.commit)}${ref}`);
  const notes = [
    ...(options.image_note === undefined
      ? []
      : [`${options.image === undefined ? "uses the standard image" : "image"}: ${options.image_note}`]),
    ...(options.absent ?? []).map((what) => `not in the sandbox: ${what}`),
  ];
  return [...where, ...notes.flatMap((note) => say("wait", note))];
}

/** Older records have no `proves`; there the checks of the base show the proof. */
function proofOf({ proves, baseChecks, trials }: VerdictBody): string {
  const times =
    trials === undefined || trials.change < 2 ? "" : `in ${trials.change} of ${trials.change} trials`;
  return [times, proofText(proves, baseChecks)].filter((part) => part !== "").join("; ");
}

function proofText(proves: VerdictBody["proves"], baseChecks: VerdictBody["baseChecks"]): string {
  if (proves === "nothing") return "proves nothing about the change";
  if (proves === "fail-to-pass" || baseChecks.some(({ exitCode }) => exitCode !== 0))
    return "failed without the change";
  if (proves !== "regression") return "";
  return baseChecks.length > 0 ? "also passes without the change" : "not tried without the change";
}

/** Adds the code to the message unless it contains the code already. */
function withCode(message: string, code: string | null): string {
  return code === null || message.includes(code) ? message : `${message} (${code})`;
}

function check(outcome: CheckOutcome): string {
  const end = outcome.timedOut
    ? "timed out"
    : outcome.exitCode === 0
      ? "passed"
      : `exit ${outcome.exitCode ?? "none"}`;
  return `${firstLine(outcome.command)} ${end} in ${duration(outcome.durationMs)}`;
}
