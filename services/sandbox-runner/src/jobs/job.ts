/**
 * One job, from a request to its outcome: plan, prepare, take a sandbox, perform the stages, report.
 *
 * Lifecycle: planned -> prepared -> leased -> each stage of the plan -> over. Every path ends with a released lease and a
 * named outcome, even if the kept output could not be stored. job-plan.ts tells how a stage is added.
 *
 * An ending that is not `completed` skips all later stages; a command that failed skips the later commands, but the changes
 * are still collected. So are those of a command that met its time or memory limit, or was halted, because the work up to
 * there may have been paid for.
 *
 * A step that was killed is in the outcome, with its output so far and without an exit code. At most two steps wait for
 * the object store, so a slow store slows the job and does not fill the runner's memory. A job for a verdict is refused
 * when it asks for a network; any other job with a network has the report of it in its outcome.
 *
 * Because a requester can die or cancel at any moment, its sandbox is released on every path: a job is canceled when its
 * holder was silent for limits.sandboxSilenceMs, and at once when it is told to stop (sandbox-runner/S4).
 *
 * Because code under test could forge the frames of a plain supervisor, a job for a verdict runs in a sealed sandbox or is
 * refused (sandbox-runner/S2).
 */
import { AntiphonError, type SandboxOutcome, type SandboxRequest } from "@antiphon/contracts";
import { layEnvironment } from "../environments/laying.ts";
import { LAYING } from "../layers/layering.ts";
import { orderOf } from "../workspace/workspace-plan.ts";
import { fillWorkspace } from "../workspace/workspace.ts";
import { collect, saveChanges } from "./changes.ts";
import { endingAfter, endingOfDeath, endingOfFailure, type Ending } from "./ending.ts";
import { repeatSteps } from "./further-trials.ts";
import { planJob, type Stage } from "./job-plan.ts";
import type { JobPorts } from "./job-ports.ts";
import { whileLeased } from "./lease.ts";
import { leasedJob, type LeasedJob } from "./leased-job.ts";
import { prepare, type Job, type PreparedJob } from "./prepared-job.ts";
import { Progress } from "./progress.ts";
import { runStep } from "./step.ts";

export interface JobStops {
  /** Ends the job at once. */
  readonly signal: AbortSignal;
  /** Stops the command; the job then ends with what it left. Before the first command it ends the job at once. */
  readonly halt: AbortSignal;
}

export async function runJob(
  request: SandboxRequest,
  ports: JobPorts,
  emit: Job["emit"],
  stops: JobStops,
): Promise<SandboxOutcome> {
  const signal = AbortSignal.any([stops.signal, stops.halt]);
  const { node, provider, defaults } = ports;
  const progress = new Progress({ node, provider, image: request.image ?? "" });
  const job: Job = { request, ports, emit, progress };
  try {
    const plan = planJob(request, defaults);
    const prepared = await ports.timed("sandbox prepare", () => prepare(plan, job, signal));
    signal.throwIfAborted();
    if (plan.stages.length > 0) await inSandbox(prepared, stops);
  } catch (error) {
    progress.ending = endingAfter(progress.ending, endingOfFailure(error, progress.step, signal));
  }
  return progress.outcome((error) => endingOfFailure(error, null, signal));
}

async function inSandbox(job: PreparedJob, { signal, halt }: JobStops): Promise<void> {
  const { request, ports, emit, progress, plan, image, workspace } = job;
  const askedAt = performance.now();
  const order = orderOf(workspace, image.id, plan.limits.container);
  const lease = await ports.timed("sandbox take", () => ports.lease(order, request, workspace.wanted));
  await whileLeased(lease, ports, signal, async () => {
    halt.throwIfAborted();
    const { id: containerId, sealed } = lease.sandbox;
    const bootMs = performance.now() - askedAt;
    Object.assign(progress.meta, { bootMs, containerId });
    emit({ kind: "started", bootMs, containerId });
    if (plan.needsSeal && !sealed) {
      throw new AntiphonError(
        "ANT_SANDBOX_REFUSED",
        `no verdict can be built on image ${image.id}: it has no perl to seal the supervisor with`,
      ); // sandbox-runner/S2
    }
    await performStages(leasedJob(job, lease, halt));
  });
}

async function performStages(job: LeasedJob): Promise<void> {
  const { ports, progress, plan, running, inbox, halt } = job;
  try {
    for (const stage of plan.stages) {
      await ports.timed(nameOf(stage), () => perform(stage, job));
      if (halt.aborted) progress.ending = haltedIn(progress, halt);
      if (progress.ending.outcome === "completed") continue;
      if (stage.kind === "run" && stage.step.isCollected) await saveChanges(job);
      return;
    }
  } finally {
    void running.stop(); // sandbox-runner/S4
    progress.heard = inbox.heard;
    progress.services = await running.outcomes();
    progress.egress = (await job.link?.close()) ?? null;
  }
}

async function perform(stage: Stage, job: LeasedJob): Promise<void> {
  const { request, ports, progress, workspace, lease } = job;
  switch (stage.kind) {
    case "lay":
      if (workspace.environment !== null && workspace.layers === null) ports.progress(LAYING);
      return layEnvironment(lease, workspace);
    case "fill":
      return fillWorkspace(lease, workspace, stage.remembering, request.traced);
    case "connect":
      job.link = await ports.egress(request, stage.grant, lease.sandbox);
      return;
    case "serve":
      return job.running.start();
    case "run":
      if (!job.stopped) await runStep(stage.step, job);
      return;
    case "collect":
      return collect(job);
    case "repeat":
      progress.written = await repeatSteps(stage, job);
      return;
  }
}

/** The name of a stage in a trace. */
const nameOf = (stage: Stage): string =>
  stage.kind === "run" ? `sandbox run ${stage.step.id}` : `sandbox ${stage.kind}`;

/** A command that ended by itself, at a limit, keeps that ending. */
function haltedIn({ ending, step }: Progress, halt: AbortSignal): Ending {
  if (ending.outcome !== "completed") return ending;
  return endingOfDeath({ kind: "canceled", reason: String(halt.reason) }, step);
}
