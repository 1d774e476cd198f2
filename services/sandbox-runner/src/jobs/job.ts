/**
 * One job, from a request to its outcome: plan the workspace, take a sandbox, fill it, run the steps, collect.
 *
 * Lifecycle: planning -> leased -> filled -> step* (-> collected) -> over. Every path ends with a released lease and a
 * named outcome, even if the kept output could not be stored.
 *
 * A step that was killed is in the outcome, with its output so far and without an exit code. At most two steps wait for
 * the object store, so a slow store slows the job and does not fill the runner's memory. A job for a verdict is refused
 * when it asks for a network; any other job with a network has the report of it in its outcome.
 *
 * Promises:
 *   sandbox-runner/S6 Because a requester can die or cancel at any moment, its sandbox is released on every path: a job
 *     or session is canceled when its holder was silent for limits.sandboxSilenceMs, and at once when it is told to stop.
 *   sandbox-runner/S7 Because code under test could forge the frames of a plain supervisor, a job for a verdict runs in
 *     a sealed sandbox or is refused.
 */
import {
  AntiphonError,
  limits,
  type EgressReport,
  type ErrorCode,
  type SandboxChanges,
  type SandboxEvent,
  type SandboxOutcome,
  type SandboxRequest,
  type SandboxStep,
  type SandboxStepOutcome,
} from "@antiphon/contracts";
import type { EgressLink } from "./egress-link.ts";
import type { Evidence } from "./evidence.ts";
import type { Lease } from "../pool/pool.ts";
import {
  boundsOf,
  fillWorkspace,
  planWorkspace,
  type WorkspacePlan,
  type WorkspaceSources,
} from "../workspace/workspace.ts";
import type { JobWords } from "../reaper/container-labels.ts";
import { COMPLETED, endingOfDeath, endingOfExit, type Ending } from "./ending.ts";
import { stepEnvironment } from "../providers/container-spec.ts";
import { jobLimits, MAX_OUTPUT_BYTES, needsSeal, type JobLimits } from "../job-limits.ts";
import { stepDirectory } from "../workspace/path-rule.ts";
import { Refusal } from "../workspace/refusal.ts";
import { encodeStep } from "../conversation/step-script.ts";
import {
  SandboxDied,
  type ContainerLimits,
  type ImageFacts,
  type Sandbox,
  type SandboxOrder,
} from "../ports.ts";

/** Gets a sandbox for a job, if possible one that already holds the base tree `tree`. */
type LeaseOf = (order: Omit<SandboxOrder, "labels">, job: JobWords, tree: string | null) => Promise<Lease>;

export interface JobPorts {
  readonly node: string;
  readonly provider: SandboxOutcome["meta"]["provider"];
  readonly defaults: ContainerLimits;
  /** Resolves a requested image to one that is allowed, or throws a coded error. */
  readonly image: (asked: string | null) => Promise<ImageFacts>;
  readonly lease: LeaseOf;
  readonly sources: WorkspaceSources;
  readonly evidence: Evidence;
  /** Null when the request asks for no network. */
  readonly egress: (request: SandboxRequest, sandbox: Sandbox) => Promise<EgressLink | null>;
  readonly onOutput: (stream: "stdout" | "stderr", piece: Buffer) => void;
  /** Work that ends after the outcome is known, such as the removal of the container. */
  readonly later: (work: Promise<void>) => void;
}

/** The facts that are known so far and become the outcome. */
interface Progress {
  /** Evidence that is being stored while later steps run. */
  readonly steps: Promise<SandboxStepOutcome>[];
  changes: SandboxChanges | null;
  step: string | null;
  imageId: string;
  containerId: string;
  bootMs: number;
  egress: EgressReport | null;
}

type Emit = (event: SandboxEvent) => void;

export async function runJob(
  request: SandboxRequest,
  ports: JobPorts,
  emit: Emit,
  signal: AbortSignal,
): Promise<SandboxOutcome> {
  const progress: Progress = {
    steps: [],
    changes: null,
    step: null,
    imageId: request.image ?? "",
    containerId: "",
    bootMs: 0,
    egress: null,
  };
  let ending: Ending;
  let steps: SandboxStepOutcome[] = [];
  try {
    ending = await perform(request, ports, progress, emit, signal);
  } catch (error) {
    ending = endingOfFailure(error, progress.step, signal);
  }
  try {
    steps = await Promise.all(progress.steps);
  } catch (error) {
    ending = endingOfFailure(error, null, signal); // an ending without its evidence does not count
  }
  const { imageId, containerId, bootMs, egress } = progress;
  return {
    ...ending,
    steps,
    changes: ending.outcome === "completed" ? progress.changes : null,
    meta: { bootMs, provider: ports.provider, node: ports.node, image: imageId, containerId },
    ...(egress === null ? {} : { egress }),
  };
}

async function perform(
  request: SandboxRequest,
  ports: JobPorts,
  progress: Progress,
  emit: Emit,
  signal: AbortSignal,
): Promise<Ending> {
  const bounded = jobLimits(ports.defaults, request.limits);
  if (!bounded.ok) throw refused(`a limit is looser than the runner allows: ${bounded.looser}`);
  if (request.budgetMs > limits.taskTimeBudgetMaxS * 1000) throw refused("the budget is more than a day");
  refuseInvalidSteps(request.steps);
  if (request.egress !== undefined && request.egress.profile.mode !== "none" && needsSeal(request.purpose))
    throw refused("a job for a verdict has no network");
  const image = await ports.image(request.image);
  progress.imageId = image.id;
  emit({ kind: "accepted", node: ports.node, image: image.id });
  const { container } = bounded.limits;
  const plan = await planWorkspace(request.workspace, ports.sources, container.workspaceBytes);
  signal.throwIfAborted();

  const askedAt = performance.now();
  const lease = await ports.lease({ imageId: image.id, limits: container }, request, plan.tree?.name ?? null);
  const { sandbox } = lease;
  const stop = (): void => {
    void lease.release();
  };
  signal.addEventListener("abort", stop, { once: true }); // sandbox-runner/S6
  try {
    signal.throwIfAborted();
    progress.bootMs = performance.now() - askedAt;
    progress.containerId = sandbox.id;
    emit({ kind: "started", bootMs: progress.bootMs, containerId: sandbox.id });
    if (needsSeal(request.purpose) && !sandbox.sealed) {
      throw refused(
        `no verdict can be built on image ${image.id}: it has no perl to seal the supervisor with`,
      ); // sandbox-runner/S7
    }
    await fillWorkspace(lease, plan, request.collect);
    const link = await ports.egress(request, sandbox);
    const leased = { lease, image, plan, limits: bounded.limits, emit, env: link?.env ?? {} };
    try {
      return await runSteps(request, ports, progress, leased);
    } finally {
      progress.egress = (await link?.close()) ?? null;
    }
  } finally {
    signal.removeEventListener("abort", stop);
    ports.later(lease.release()); // sandbox-runner/S6
  }
}

interface Leased {
  readonly lease: Lease;
  readonly image: ImageFacts;
  readonly plan: WorkspacePlan;
  readonly limits: JobLimits;
  readonly emit: Emit;
  /** Variables that lead to the network, for jobs that have one. */
  readonly env: Readonly<Record<string, string>>;
}

async function runSteps(
  request: SandboxRequest,
  ports: JobPorts,
  progress: Progress,
  leased: Leased,
): Promise<Ending> {
  const { sandbox } = leased.lease;
  const endsAt = performance.now() + request.budgetMs;
  const collectAfter = request.collectAfter ?? request.steps.at(-1)?.id;
  let ending = COMPLETED;
  for (const step of request.steps) {
    progress.step = step.id;
    await Promise.allSettled(progress.steps.slice(0, -1)); // at most two steps wait for the store
    const left = Math.max(1, endsAt - performance.now());
    const exitCode = await runStep(step, left, ports, progress, leased).catch((error: unknown) => {
      recordKilled(error, step, ports, progress);
      leased.emit({ kind: "step", id: step.id, exitCode: null });
      throw error;
    });
    leased.emit({ kind: "step", id: step.id, exitCode: exitCode.code });
    if (exitCode.ending !== null) ending = exitCode.ending;
    if (ending.outcome !== "completed") return ending;
    if (request.collect && step.id === collectAfter) {
      const collected = await sandbox.collect(leased.plan.baseline, boundsOf(leased.plan));
      progress.changes = await ports.evidence.changes(collected);
    }
    if (exitCode.code !== 0 && !step.continueOnFailure) break;
  }
  // The job ended before the step to collect after, so the files are collected as they are now.
  if (request.collect && progress.changes === null) {
    const collected = await sandbox.collect(leased.plan.baseline, boundsOf(leased.plan));
    progress.changes = await ports.evidence.changes(collected);
  }
  return ending;
}

async function runStep(
  step: SandboxStep,
  leftMs: number,
  ports: JobPorts,
  progress: Progress,
  leased: Leased,
): Promise<{ code: number; ending: Ending | null }> {
  const exit = await leased.lease.sandbox.run({
    argv: step.argv,
    cwd: stepDirectory(step.cwd),
    env: { ...stepEnvironment(leased.image), ...leased.env, ...step.env },
    stdin: step.stdin === undefined ? null : Buffer.from(step.stdin, "utf8"),
    timeoutMs: Math.min(step.timeoutMs, leftMs),
    keepBytes: leased.limits.keepBytes,
    maxOutputBytes: MAX_OUTPUT_BYTES,
    onOutput: step.quiet === true ? () => undefined : ports.onOutput,
  });
  const { stdout, stderr, durationMs, exitCode } = exit;
  keep(progress, ports.evidence.step({ id: step.id, exitCode, timedOut: false, durationMs, stdout, stderr }));
  return { code: exitCode, ending: endingOfExit(exit, step.id) };
}

function recordKilled(error: unknown, step: SandboxStep, ports: JobPorts, progress: Progress): void {
  if (!(error instanceof SandboxDied) || error.partial === null) return;
  const timedOut = error.death.kind === "timeout";
  keep(progress, ports.evidence.step({ id: step.id, exitCode: null, timedOut, ...error.partial }));
}

function keep(progress: Progress, step: Promise<SandboxStepOutcome>): void {
  step.catch(() => undefined); // a failure to store is handled where all steps are awaited
  progress.steps.push(step);
}

/** Errors that only the requester can correct. */
const REFUSALS: ReadonlySet<string> = new Set<ErrorCode>([
  "ANT_SANDBOX_REFUSED",
  "ANT_SANDBOX_PATH",
  "ANT_SANDBOX_IMAGE_INVALID",
  "ANT_SANDBOX_IMAGE_MISSING",
  "ANT_SANDBOX_IMAGE_NOT_ALLOWED",
  "ANT_SANDBOX_IMAGE_UNUSABLE",
]);

function endingOfFailure(error: unknown, step: string | null, signal: AbortSignal): Ending {
  if (signal.aborted) return endingOfDeath(canceledBy(signal), step);
  if (error instanceof SandboxDied) {
    const ending = endingOfDeath(error.death, step);
    // A timeout before the first command is not the task's: its commands have used no time yet.
    return step === null && ending.outcome === "timeout"
      ? {
          outcome: "error",
          code: "ANT_SANDBOX_FAILED",
          message: "the sandbox did not take its files in time",
        }
      : ending;
  }
  if (error instanceof Refusal)
    return { outcome: "error", code: "ANT_SANDBOX_OUTPUT", message: error.message };
  const { code, detail } = AntiphonError.from(error, "ANT_SANDBOX_FAILED");
  return { outcome: REFUSALS.has(code) ? "refused" : "error", code, message: detail };
}

function canceledBy(signal: AbortSignal): { kind: "canceled"; reason: string } {
  return { kind: "canceled", reason: typeof signal.reason === "string" ? signal.reason : "canceled" };
}

/** Refuses steps that no sandbox could run, before a sandbox is taken. */
function refuseInvalidSteps(steps: readonly SandboxStep[]): void {
  for (const { id, argv, cwd, env } of steps) {
    if (encodeStep("perl", { argv, cwd: "/workspace", env }) === null) {
      throw refused(`step ${id}: a NUL in an argument, or an invalid variable name`);
    }
    try {
      stepDirectory(cwd);
    } catch (error) {
      if (error instanceof Refusal)
        throw new AntiphonError("ANT_SANDBOX_PATH", `step ${id}: ${error.message}`);
      throw error;
    }
  }
}

function refused(why: string): AntiphonError {
  return new AntiphonError("ANT_SANDBOX_REFUSED", why);
}
