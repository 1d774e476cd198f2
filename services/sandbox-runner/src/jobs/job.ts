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
 * Promises:
 *   sandbox-runner/S6 Because a requester can die or cancel at any moment, its sandbox is released on every path: a job
 *     is canceled when its holder was silent for limits.sandboxSilenceMs, and at once when it is told to stop.
 *   sandbox-runner/S7 Because code under test could forge the frames of a plain supervisor, a job for a verdict runs in
 *     a sealed sandbox or is refused.
 */
import {
  AntiphonError,
  type SandboxOutcome,
  type SandboxRequest,
  type ServiceSpec,
} from "@antiphon/contracts";
import { EnvironmentFailure } from "../environments/environment-failure.ts";
import { withRoom, type LayerContent } from "../environments/laying.ts";
import type { ImageFacts } from "../ports.ts";
import { orderOf, planWorkspace, wantedOf } from "../workspace/workspace.ts";
import { endingAfter, endingOfDeath, endingOfFailure, type Ending } from "./ending.ts";
import { planJob, type JobPlan, type Stage } from "./job-plan.ts";
import type { JobPorts } from "./job-ports.ts";
import { whileLeased } from "./lease.ts";
import { leasedJob, type Job, type LeasedJob, type PreparedJob } from "./leased-job.ts";
import { Progress } from "./progress.ts";
import { perform, saveChanges } from "./stages.ts";

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

/** Resolves, fetches and checks everything that the stages need, before a sandbox is taken. */
async function prepare(plan: JobPlan, job: Job, signal: AbortSignal): Promise<PreparedJob> {
  const { request, ports, emit, progress } = job;
  const image = await ports.image(request.image);
  progress.meta.image = image.id;
  emit({ kind: "accepted", node: ports.node, image: image.id });
  const layer = await ensureEnvironment(job, image, signal);
  const owned = request.workspace.environment?.owned === true;
  const laid = layer === null ? null : { ...layer, owned };
  const room = plan.limits.container.workspaceBytes;
  const workspace = await planWorkspace(request.workspace, ports.sources, room, laid);
  const services: { spec: ServiceSpec; image: ImageFacts }[] = [];
  for (const spec of request.services ?? [])
    services.push({ spec, image: spec.image === undefined ? image : await ports.image(spec.image) });
  return { ...job, plan, image, workspace, layer, services };
}

/** Finds or makes the environment that the request names; null: it names none. */
async function ensureEnvironment(
  { request, ports, progress }: Job,
  image: ImageFacts,
  signal: AbortSignal,
): Promise<LayerContent | null> {
  const spec = request.workspace.environment;
  if (spec === undefined) return null;
  try {
    const { report, layer } = await ports.environments.ensure({ request, spec, image, ports }, signal);
    progress.environment = report;
    return layer;
  } catch (error) {
    if (error instanceof EnvironmentFailure) progress.environment = error.report;
    throw error;
  }
}

async function inSandbox(job: PreparedJob, { signal, halt }: JobStops): Promise<void> {
  const { request, ports, emit, progress, plan, image, workspace, layer } = job;
  const askedAt = performance.now();
  const own = plan.limits.container;
  // A mounted environment takes no room of the job's own.
  const bounds = layer !== null && workspace.layers === null ? withRoom(own, layer) : own;
  const order = orderOf(workspace, image.id, bounds);
  const lease = await ports.timed("sandbox take", () => ports.lease(order, request, wantedOf(workspace)));
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
      ); // sandbox-runner/S7
    }
    await performAll(plan.stages, leasedJob(job, lease, halt));
  });
}

async function performAll(stages: readonly Stage[], job: LeasedJob): Promise<void> {
  const { ports, progress, running, inbox, halt } = job;
  try {
    for (const stage of stages) {
      await ports.timed(nameOf(stage), () => perform(stage, job));
      if (halt.aborted) progress.ending = haltedIn(progress, halt);
      if (progress.ending.outcome === "completed") continue;
      if (stage.kind === "run" && stage.step.isCollected) await saveChanges(job);
      return;
    }
  } finally {
    void running.stop(); // sandbox-runner/S12
    progress.heard = inbox.heard;
    progress.services = await running.outcomes();
    progress.egress = (await job.link?.close()) ?? null;
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
