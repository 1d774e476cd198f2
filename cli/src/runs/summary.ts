// The summary of a run, as `--json` prints it; its rows for a terminal are in summary-rows.ts. Pure.
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
import { branch } from "../screen/short-forms.ts";

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
