/**
 * One attempt, carried out: context -> agent -> sandbox (work, then self-verification) -> diff -> evidence.
 *
 * It is told to stop by a signal whose reason says why; it then ends without a report. Otherwise it ends with a
 * report, or with the infrastructure fault that kept it from one.
 *
 * Invariants:
 *   A5  A fault of the infrastructure is never reported as a fault of the task: it is tried again while there is
 *       patience and budget, then abandoned.
 *   A10 The evidence is stored before the report that refers to it.
 *   S5  The diff is made on the trusted side, from files; nothing the sandbox says about git is read.
 */
import { AntiphonError, limits } from "@antiphon/contracts";
import type { DispatchBody, ResultBody, SandboxOutcome, SandboxRequest } from "@antiphon/contracts";
import { agentFor } from "./agents/agent-for.ts";
import { briefJson } from "./core/brief.ts";
import { briefRoom, budgetMsOf, checksOf, factsOf, planJob, TOOLS_STEP } from "./core/attempt.ts";
import type { JobPlan } from "./core/attempt.ts";
import { filesOf, manifestOf } from "./core/bundle.ts";
import type { Provenance } from "./core/bundle.ts";
import { merged } from "./core/change.ts";
import { endingOf, overBudget } from "./core/ending.ts";
import { isOwnFault, retryDelayMs } from "./core/fault.ts";
import { boundResult, reportOf } from "./core/report.ts";
import type { AttemptFacts, Ending } from "./core/report.ts";
import { isEmpty, NO_CHANGE } from "./ports.ts";
import type { AttemptPorts, Change, ChangedFile, Diff, Preparation } from "./ports.ts";

export interface AttemptOrder {
  readonly runId: string;
  readonly epoch: number;
  readonly dispatch: DispatchBody;
  readonly associate: string;
}

export type StopReason = "canceled" | "fenced" | "draining";

export type AttemptEnd =
  | { readonly kind: "reported"; readonly body: Extract<ResultBody, { kind: "reported" }> }
  | { readonly kind: "abandoned"; readonly code: string; readonly message: string }
  | { readonly kind: "stopped"; readonly why: StopReason };

/** Inline files up to this much travel in the request; more goes as a tar through the object store. */
const INLINE_BYTES = 128 * 1024;
/** The runner ends a job at its budget and tells us how; this long after it we stop waiting for its word. */
const BUDGET_GRACE_MS = 5000;
/** Of one journal record, so that the envelope and the references fit beside it. */
const RESULT_BYTES = limits.messageBytes - 16 * 1024;

type Work = Extract<Preparation, { kind: "work" }>;

interface Ran {
  readonly ending: Ending;
  readonly plan: JobPlan | null;
  readonly outcome: SandboxOutcome | null;
  readonly change: Change;
  readonly work: Work | null;
}

export async function carryOut(
  order: AttemptOrder,
  ports: AttemptPorts,
  stop: AbortSignal,
): Promise<AttemptEnd> {
  try {
    const ran = await attempted(order, ports, stop);
    if (stop.aborted) return stoppedBy(stop);
    const body = await reported(order, ports, ran);
    return stop.aborted ? stoppedBy(stop) : { kind: "reported", body };
  } catch (thrown) {
    if (stop.aborted) return stoppedBy(stop);
    const { code, detail } = AntiphonError.from(thrown);
    ports.log.warn({ err: thrown, code, run: order.runId, epoch: order.epoch }, "attempt abandoned");
    return { kind: "abandoned", code, message: detail.slice(0, 2048) }; // A5
  }
}

function stoppedBy(stop: AbortSignal): AttemptEnd {
  return { kind: "stopped", why: stop.reason as StopReason };
}

async function attempted(order: AttemptOrder, ports: AttemptPorts, stop: AbortSignal): Promise<Ran> {
  const { dispatch } = order;
  const deadlineMs = ports.clock.now() + budgetMsOf(dispatch);
  const nothing = { plan: null, outcome: null, change: NO_CHANGE, work: null };
  try {
    if (dispatch.task.kind === "git") {
      throw new AntiphonError("ANT_TASK_KIND_UNSUPPORTED", "no agent here does git tasks");
    }
    // The tree is wanted for the diff at the end; fetching it meanwhile costs no time.
    ports.trees
      .ensure(dispatch.base, stop)
      .catch((error: unknown) => ports.log.debug({ err: error }, "early fetch"));
    const { trees, recordings } = ports;
    const prepared = await agentFor(dispatch.agent).prepare({
      dispatch,
      epoch: order.epoch,
      trees,
      recordings,
    });
    if (prepared.kind === "ask")
      return { ...nothing, ending: { kind: "asks", questions: prepared.questions } };
    return await inSandbox(order, ports, prepared, deadlineMs, stop);
  } catch (thrown) {
    const { code, detail } = AntiphonError.from(thrown);
    if (stop.aborted || !isOwnFault(code)) throw thrown; // A5
    return { ...nothing, ending: { kind: "stopped", code, message: detail } };
  }
}

async function inSandbox(
  order: AttemptOrder,
  ports: AttemptPorts,
  work: Work,
  deadlineMs: number,
  stop: AbortSignal,
): Promise<Ran> {
  const { dispatch, runId, epoch } = order;
  const budgetMs = budgetMsOf(dispatch);
  const plan = planJob({
    runId,
    epoch,
    dispatch,
    work: work.steps,
    selfVerify: work.selfVerify,
    brief: briefJson(dispatch, epoch, briefRoom(work.steps.length)),
    budgetMs,
    probeTools: !ports.tools.has(dispatch.image ?? ""),
  });
  if (plan.steps.length === 0) {
    return { ending: { kind: "ran" }, plan, outcome: null, change: work.change, work };
  }
  const request = await requestOf(order, ports, plan, work.change);
  const outcome = await askedUntilDone(request, plan, ports, deadlineMs, stop);
  if (outcome === "over-budget") {
    return { ending: overBudget(budgetMs, null), plan, outcome: null, change: NO_CHANGE, work };
  }
  keepTools(ports, dispatch, outcome);
  const ending = endingOf(outcome, [...plan.work, ...plan.checks], budgetMs);
  const after = await changeIn(outcome, ports);
  return { ending, plan, outcome, change: merged(work.change, after), work };
}

async function requestOf(
  order: AttemptOrder,
  ports: AttemptPorts,
  plan: JobPlan,
  change: Change,
): Promise<Omit<SandboxRequest, "jobId" | "budgetMs">> {
  const inline = change.files.reduce((sum, file) => sum + file.content.length, 0) <= INLINE_BYTES;
  return {
    run: order.runId,
    task: order.dispatch.task.task_id,
    epoch: order.epoch,
    purpose: "attempt",
    image: order.dispatch.image,
    workspace: {
      tree: order.dispatch.base.object,
      files: inline ? change.files.map(inlineFile) : [],
      overlay: inline ? null : await ports.overlays.pack(change.files),
      deletions: [...change.deletions],
    },
    steps: [...plan.steps],
    collect: plan.collectAfter !== null,
    ...(plan.collectAfter === null ? {} : { collectAfter: plan.collectAfter }),
  };
}

function inlineFile({ path, mode, content }: ChangedFile): SandboxRequest["workspace"]["files"][number] {
  return { path, mode, content: content.toString("base64"), encoding: "base64" };
}

/**
 * Runs the job, again on another runner when one was lost, until there is an outcome that is not the
 * infrastructure's fault. Throws the last such fault when patience or budget are used up (A5).
 */
async function askedUntilDone(
  request: Omit<SandboxRequest, "jobId" | "budgetMs">,
  plan: JobPlan,
  ports: AttemptPorts,
  deadlineMs: number,
  stop: AbortSignal,
): Promise<SandboxOutcome | "over-budget"> {
  const { clock, progress } = ports;
  let firstFaultAt: number | null = null;
  for (let attempt = 0; ; attempt += 1) {
    const leftMs = Math.max(1, deadlineMs - clock.now());
    const budget = AbortSignal.timeout(leftMs + BUDGET_GRACE_MS);
    const job = {
      ...request,
      steps: request.steps.map((step) => ({ ...step, timeoutMs: leftMs })),
      budgetMs: leftMs,
    };
    const fault = await ports.sandbox
      .run(
        { ...job, jobId: ports.newJobId() },
        {
          signal: AbortSignal.any([stop, budget]),
          patienceMs: Math.min(leftMs, ports.patienceMs),
          onEvent: (event) => {
            const line = lineOf(event, plan);
            if (line !== null) progress(line);
          },
        },
      )
      .then((outcome): SandboxOutcome | AntiphonError => {
        if (outcome.outcome !== "error" && outcome.outcome !== "canceled") return outcome;
        const ending = endingOf(outcome, [], 0);
        if (ending.kind !== "stopped") return outcome;
        return isOwnFault(ending.code) ? outcome : new AntiphonError(ending.code, ending.message);
      })
      .catch((thrown: unknown) => AntiphonError.from(thrown, "ANT_SANDBOX_FAILED"));
    if (!(fault instanceof AntiphonError)) return fault;
    if (stop.aborted) throw fault;
    if (budget.aborted) return "over-budget";
    if (isOwnFault(fault.code)) throw fault;
    firstFaultAt ??= clock.now();
    const now = clock.now();
    if (now - firstFaultAt > ports.patienceMs || now >= deadlineMs) throw fault;
    progress(`${fault.code}: ${fault.detail}; trying again. ${fault.remedy}`);
    await clock.sleep(retryDelayMs(attempt), stop);
  }
}

function lineOf(
  event: Parameters<Parameters<AttemptPorts["sandbox"]["run"]>[1]["onEvent"]>[0],
  plan: JobPlan,
): string | null {
  switch (event.kind) {
    case "busy":
      return "waiting for a free sandbox";
    case "started":
      return `sandbox started in ${Math.round(event.bootMs)} ms`;
    case "step": {
      const step = [...plan.work, ...plan.checks].find(({ id }) => id === event.id);
      if (step === undefined) return null;
      const how = event.exitCode === null ? "killed" : `exit ${event.exitCode}`;
      return `$ ${step.command.split("\n", 1)[0]?.slice(0, 120) ?? ""} (${how})`;
    }
    default:
      return null;
  }
}

async function changeIn(outcome: SandboxOutcome, ports: AttemptPorts): Promise<Change> {
  if (outcome.outcome !== "completed" || outcome.changes === null) return NO_CHANGE;
  const { overlay, deletions } = outcome.changes;
  return { files: await ports.overlays.unpack(overlay), deletions };
}

function keepTools(ports: AttemptPorts, dispatch: DispatchBody, outcome: SandboxOutcome): void {
  const probe = outcome.steps.find((step) => step.id === TOOLS_STEP);
  if (probe === undefined || probe.exitCode !== 0) return;
  const lines = probe.stdout.tail.split("\n").filter((line) => line.trim() !== "");
  ports.tools.set(dispatch.image ?? "", lines);
}

/** Turns what happened into the stored evidence and the report that points at it (A10). */
async function reported(
  order: AttemptOrder,
  ports: AttemptPorts,
  ran: Ran,
): Promise<Extract<ResultBody, { kind: "reported" }>> {
  const { dispatch, runId, epoch, associate } = order;
  const diff = isEmpty(ran.change) ? null : await ports.trees.diff(dispatch.base, ran.change); // S5
  const facts = factsFor(dispatch, ran, diff);
  const report = reportOf(facts);
  const files = await ports.evidence.store(filesOf(facts, provenanceOf(order, ports, ran)));
  const manifest = manifestOf({
    runId,
    epoch,
    associate,
    baseCommit: dispatch.base.commit,
    facts,
    report,
    files,
  });
  const evidence = await ports.evidence.publish(manifest); // A10
  ports.progress(report.result.summary.split("\n", 1)[0]?.slice(0, 300) ?? "");
  return {
    kind: "reported",
    associate,
    result: boundResult(report.result, RESULT_BYTES),
    code: report.code,
    evidence,
    patch: files.find((file) => file.path === "diff.patch")?.blob ?? null,
  };
}

function factsFor(dispatch: DispatchBody, ran: Ran, diff: Diff | null): AttemptFacts {
  const { task } = dispatch;
  const outcomes = ran.outcome?.steps ?? [];
  return {
    taskId: task.task_id,
    kind: task.kind,
    ending: ran.ending,
    work: factsOf(ran.plan?.work ?? [], outcomes),
    checks: factsOf(ran.plan?.checks ?? [], outcomes),
    verify: { mode: task.verify_profile.mode, commands: checksOf(dispatch) },
    selfVerified: ran.work?.selfVerify ?? true,
    change: diff,
    note: ran.work?.note ?? "did nothing",
    wants: { diff: task.return.diff, filesChanged: task.return.files_changed },
  };
}

function provenanceOf(order: AttemptOrder, ports: AttemptPorts, ran: Ran): Provenance {
  const { dispatch } = order;
  const meta = ran.outcome?.meta ?? null;
  return {
    environment: {
      associate: order.associate,
      agent: dispatch.agent.kind,
      run: order.runId,
      task: dispatch.task.task_id,
      epoch: order.epoch,
      ended_at: new Date(ports.clock.now()).toISOString(),
      sandbox: meta,
    },
    tools: meta === null ? [] : (ports.tools.get(dispatch.image ?? "") ?? []),
    git: {
      base_commit: dispatch.base.commit,
      base_tree: dispatch.base.tree,
      base_object: dispatch.base.object,
    },
    transcript: ran.work?.transcript ?? null,
  };
}
