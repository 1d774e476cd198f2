// The summary of a run, as `--json` prints it and as rows for a terminal. Pure.
import { isFirstAfterQuestion } from "@antiphon/run/facts/first-attempt";
import { isPaused, timeOf, type RunFacts } from "@antiphon/run/facts/run-facts";
import { runView } from "@antiphon/run/view/run-view";
import type {
  ModelBudget,
  Proves,
  ResultBody,
  RunStep,
  RunViewModel,
  StepApproval,
} from "@antiphon/contracts";
import { branch, firstLine, short } from "../screen/short-forms.ts";

export interface TaskSummary {
  readonly task: string;
  readonly title: string;
  /** The tasks that have to land first. */
  readonly deps: readonly string[];
  /** Its own agent and sandbox image; absent: those of the run. */
  readonly agent?: string;
  readonly image?: string;
  /** What its attempts can reach; absent: nothing but the models that a budget pays for. */
  readonly network?: string;
  readonly status: RunStep["status"];
  readonly phase: RunStep["phase"];
  readonly verdict: string | null;
  /** How much its checks prove about its change; null: there is no verdict, or one of a release that did not say. */
  readonly proves: Proves | null;
  readonly epoch: number;
  readonly attempts: number;
  /** The first attempt, although `epoch` is not 1: the numbers before it are those of questions for a check. */
  readonly afterQuestion: boolean;
  readonly code: string | null;
  readonly message: string | null;
  readonly commit: string | null;
  readonly questions: readonly string[];
  readonly evidence: string | null;
  /** The approval of its change; null if none is required. */
  readonly approval: StepApproval | null;
}

export interface RunSummary {
  readonly runId: string;
  readonly intentId: string | null;
  readonly goal: string;
  readonly repo: string | null;
  readonly status: RunViewModel["status"];
  /** Paused by a person: nothing new starts until it is resumed. */
  readonly paused: boolean;
  readonly code: string | null;
  readonly message: string;
  readonly workflow: string | null;
  readonly tasks: readonly TaskSummary[];
  readonly commit: string | null;
  readonly branch: string | null;
  readonly landedOn: string | null;
  readonly seal: string | null;
  /** The signers of the verified decisions; null: there is no decision yet. */
  readonly signed: string | null;
  readonly startedAt: string | null;
  readonly durationMs: number;
  /** A person was asked which command proves the change, and named one. */
  readonly checkNamed: boolean;
  /** For its model calls; null: it may make none. */
  readonly modelBudget: ModelBudget | null;
  /** What people told attempts, and which attempts were given it. */
  readonly messages: readonly {
    readonly n: number;
    readonly task: string;
    readonly attempt: number;
    readonly by: string;
    readonly text: string;
    readonly heard: readonly number[];
  }[];
}

/** `now`: milliseconds since 1970; the end of the duration while the run is open. */
export function summarize(facts: RunFacts, signed: string | null, now: number): RunSummary {
  const { runId, intent, routed, landed, closed, openedAt } = facts;
  const view = runView(facts);
  const end = closed === null ? now : Date.parse(timeOf(closed.at));
  const startedAt = openedAt === null ? null : timeOf(openedAt);
  return {
    runId,
    intentId: intent?.intentId ?? null,
    goal: intent?.intent.goal ?? "",
    repo: intent?.base.repo.path ?? null,
    status: view.status,
    paused: isPaused(facts),
    code: closed?.code ?? null,
    message: closed?.message ?? "",
    workflow: routed?.workflow ?? null,
    tasks: view.steps.map((step) => taskSummary(view, step, facts)),
    commit: closed?.commit ?? landed?.commit ?? null,
    branch: landed === null ? null : branch(landed.ref),
    landedOn: closed?.landedOn ?? null,
    seal: closed?.seal ?? null,
    signed,
    startedAt,
    // Record times come from the server's clock, and ours may be behind it.
    durationMs: startedAt === null ? 0 : Math.max(0, end - Date.parse(startedAt)),
    checkNamed: hasNamedCheck(facts),
    modelBudget: intent?.options.model_budget ?? null,
    messages: facts.messages.map(({ n, task, attempt, by, text }) => {
      const attempts = facts.tasks?.find(({ planned }) => planned.task.task_id === task)?.attempts ?? [];
      const heard = attempts.filter(({ result }) => hasHeard(result, n)).map(({ epoch }) => epoch);
      return { n, task, attempt, by, text, heard };
    }),
  };
}

/** The answer "unverified" takes a change without proof, and names no check. */
function hasNamedCheck({ tasks }: RunFacts): boolean {
  const asked = (tasks ?? []).flatMap(({ attempts }) => attempts).filter(({ criteria }) => criteria !== null);
  return asked.some(
    ({ answer }) => answer?.body.answers.some((one) => !/^\s*unverified\s*$/i.test(one)) === true,
  );
}

function hasHeard(result: ResultBody | null, n: number): boolean {
  return result?.kind === "reported" && (result.heard ?? []).some(({ message }) => message === n);
}

function provenBy({ tasks }: RunFacts, id: string): Proves | null {
  const attempts = tasks?.find(({ planned }) => planned.task.task_id === id)?.attempts ?? [];
  return attempts.at(-1)?.verdict?.proves ?? null;
}

function taskSummary(view: RunViewModel, step: RunStep, facts: RunFacts): TaskSummary {
  const { id, title, deps, status, phase, verdict, epoch, attempts, code, message, commit, questions } = step;
  const { agent, image, network } = step;
  const approval = step.approval ?? null;
  const bundles = view.artifacts.filter(
    (artifact) => artifact.taskId === id && artifact.bucket === "ANT_EVIDENCE",
  );
  const evidence = bundles.at(-1)?.name ?? null;
  const stands = { title, deps, status, phase, verdict, epoch, attempts, code, message, commit, questions };
  const own = {
    ...(agent === undefined ? {} : { agent }),
    ...(image === undefined ? {} : { image }),
    ...(network === undefined ? {} : { network }),
  };
  const proves = provenBy(facts, id);
  const afterQuestion = isFirstAfterQuestion(facts, id, epoch);
  return { task: id, ...stands, afterQuestion, proves, ...own, evidence, approval };
}

/** 0 ok, 1 run failed, 3 needs input. An open run is not a failure. */
export function exitCodeOf(status: RunViewModel["status"]): number {
  if (status === "waiting_input") return 3;
  return status === "failed" || status === "canceled" ? 1 : 0;
}

/** Labels and texts in printing order. `take`: the command that merges or fetches the result, if there is one. */
export function summaryRows(summary: RunSummary, take: string | null): [string, string][] {
  const rows: [string, string][] = [["run", summary.runId]];
  for (const task of summary.tasks)
    rows.push(
      [task.task, taskText(task, summary.status)],
      ...unprovenRows(task),
      ...approvalRows(task, summary.status),
    );
  for (const { task, attempt, by, text, heard } of summary.messages) {
    const read = heard.length === 0 ? "not read" : `read by attempt ${heard.join(", ")}`;
    rows.push(["message", `${by} to attempt ${attempt} of ${task} (${read}): ${firstLine(text)}`]);
  }
  if (summary.commit !== null && summary.branch !== null)
    rows.push(["commit", `${summary.commit} on ${summary.branch}`]);
  const target = summary.landedOn === null ? null : branch(summary.landedOn);
  if (target !== null && target !== summary.branch) rows.push(["landed on", target]);
  else if (take !== null) rows.push(["take it", take]);
  if (summary.signed !== null) rows.push(["signed by", summary.signed]);
  if (summary.tasks.some((task) => task.evidence !== null)) {
    rows.push(["evidence", `antiphon evidence get ${summary.runId}`]);
    rows.push(["", `antiphon evidence export ${summary.runId} --out evidence-${summary.runId}`]);
  }
  if (summary.status === "failed" && summary.checkNamed)
    rows.push([
      "new check",
      'antiphon run "<intent>" --check "<command>"; a retry keeps the one that was named',
    ]);
  if (summary.paused) rows.push(["paused", `resume it with: antiphon resume ${summary.runId}`]);
  if (summary.status === "waiting_input") {
    for (const question of summary.tasks.flatMap((task) => task.questions)) rows.push(["question", question]);
    rows.push(...howToAnswer(summary));
  }
  return rows;
}

/** A change that landed although its checks say nothing about it, and in a row of its own how to demand more. */
function unprovenRows({ commit, proves, message }: TaskSummary): [string, string][] {
  if (commit === null || proves !== "nothing" || message === null) return [];
  return message.split(/; (?=--require-proof )/).map((part) => ["", firstLine(part)]);
}

/** The state of a task's approval, and each decision with its author. */
function approvalRows({ approval }: TaskSummary, run: RunSummary["status"]): [string, string][] {
  if (approval === null) return [];
  const { commit, needed, words, verdict, reasons = [] } = approval;
  const given = words.filter(({ choice }) => choice === "approve").length;
  const isOver = run === "canceled" || run === "failed";
  const pending = isOver ? "was not decided" : "waits for approval";
  const state = approval.state === "pending" ? pending : STATE_WORDS[approval.state];
  const rows: [string, string][] = [
    ["", `commit ${short(commit)} ${state}, ${given} of ${needed}; verdict ${verdict}`],
  ];
  for (const reason of reasons) rows.push(["", `because ${firstLine(reason)}`]);
  for (const { choice, by, at, reason } of words)
    rows.push(["", `${choice} by ${by} at ${at}${reason === undefined ? "" : `: ${firstLine(reason)}`}`]);
  return rows;
}

const STATE_WORDS: Record<Exclude<StepApproval["state"], "pending">, string> = {
  approved: "is approved",
  rejected: "is rejected",
  changes: "was sent back for changes",
};

function howToAnswer({ runId, tasks }: RunSummary): [string, string][] {
  const pending = tasks.filter(({ approval }) => approval?.state === "pending");
  const isAsked = tasks.some(
    ({ questions, approval }) => questions.length > 0 && approval?.state !== "pending",
  );
  const rows: [string, string][] = isAsked ? [["answer", `antiphon answer ${runId} "<your answer>"`]] : [];
  const [first] = pending;
  if (first?.approval == null) return rows;
  const { verdict } = first.approval;
  rows.push(["approve", `antiphon approve ${runId} --verdict ${verdict}`]);
  rows.push(["or", `antiphon reject ${runId} --reason "<why>"`]);
  rows.push(["or", `antiphon changes ${runId} --reason "<what to change>"`]);
  return rows;
}

/** The phase of a task that has no verdict yet. */
function phaseWords(task: TaskSummary): string {
  const { phase, status, epoch } = task;
  switch (phase) {
    case "blocked":
      return "waiting for other tasks";
    case "ready":
      return epoch === 0 ? "waiting for the Director" : attemptAt(task, "waiting for an Associate");
    case "paused":
      return "paused";
    case "resting":
      return "waiting to retry";
    case "claimed":
      return attemptAt(task, "running");
    case "verifying":
      return attemptAt(task, "in the clean room");
    case "gated":
      return "judged by a skill";
    case "landing":
      return "landing";
    case "waiting_input":
      return "waiting for your answer";
    case "finished":
      return status;
  }
}

function attemptAt({ epoch, afterQuestion }: TaskSummary, where: string): string {
  return afterQuestion
    ? `first attempt ${where} (number ${epoch}, after the question)`
    : `attempt ${epoch} ${where}`;
}

function taskText(task: TaskSummary, run: RunSummary["status"]): string {
  const isCanceled = run === "canceled" && task.status !== "done"; // The status of a task has no word for it.
  const verdict = isCanceled ? "canceled" : (task.verdict ?? phaseWords(task));
  const tries = task.attempts > 1 ? ` after ${task.attempts} attempts` : "";
  const landed = task.commit === null ? "" : `, landed as ${short(task.commit)}`;
  const why = task.code === null ? "" : `: ${task.code}`;
  const after = task.deps.length === 0 ? "" : ` (after ${task.deps.join(", ")})`;
  return `${verdict}${tries}${landed}${why}  ${firstLine(task.title)}${after}${ownWords(task)}`;
}

function ownWords({ agent, image, network }: TaskSummary): string {
  const words = [
    ...(agent === undefined ? [] : [`by ${agent}`]),
    ...(image === undefined ? [] : [`in ${image}`]),
    ...(network === undefined ? [] : [`with ${network}`]),
  ];
  return words.length === 0 ? "" : ` [${words.join(" ")}]`;
}
