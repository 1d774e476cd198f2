/**
 * One job, from a request to its outcome: plan, prepare, take a sandbox, perform the stages, report.
 *
 * Lifecycle: planned -> prepared -> leased -> each stage of the plan -> over. Every path ends with a released lease and a
 * named outcome, even if the kept output could not be stored. job-plan.ts tells how a stage is added.
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
import {
  AntiphonError,
  type SandboxOutcome,
  type SandboxRequest,
  type ServiceSpec,
} from "@antiphon/contracts";
import { withRoom } from "../environments/laying.ts";
import { orderOf, planWorkspace, wantedOf } from "../workspace/workspace.ts";
import { endingAfter, endingOfFailure } from "./ending.ts";
import { EnvironmentFailure } from "../environments/environment-failure.ts";
import type { ImageFacts } from "../ports.ts";
import { planJob, type JobPlan } from "./job-plan.ts";
import type { JobPorts } from "./job-ports.ts";
import type { Job, Prepared } from "./leased-job.ts";
import { Progress } from "./progress.ts";
import { performStages } from "./stages.ts";

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
    if (plan.stages.length > 0) await inSandbox(job, prepared, stops);
  } catch (error) {
    progress.ending = endingAfter(progress.ending, endingOfFailure(error, progress.step, signal));
  }
  return progress.outcome((error) => endingOfFailure(error, null, signal));
}

/** Resolves, fetches and checks everything that the stages need, before a sandbox is taken. */
async function prepare(plan: JobPlan, job: Job, signal: AbortSignal): Promise<Prepared> {
  const { ports, emit, progress } = job;
  const image = await ports.image(plan.image);
  progress.meta.image = image.id;
  emit({ kind: "accepted", node: ports.node, image: image.id });
  const environment = await ensureEnvironment(plan, image, job, signal);
  const { workspaceBytes } = plan.limits.container;
  const owned = environment?.spec.owned === true;
  const laid = environment === null ? null : { ...environment.layer, owned };
  const workspace = await planWorkspace(plan.workspace, ports.sources, workspaceBytes, laid);
  const services = await imagesOf(job, image);
  return { plan, image, workspace, environment, services };
}

/** Each service with its image; without one of its own, that of the sandbox. */
async function imagesOf({ request, ports }: Job, image: ImageFacts): Promise<Prepared["services"]> {
  const found: { spec: ServiceSpec; image: ImageFacts }[] = [];
  for (const spec of request.services ?? [])
    found.push({ spec, image: spec.image === undefined ? image : await ports.image(spec.image) });
  return found;
}

/** Finds or makes the environment that the request names; null: it names none. */
async function ensureEnvironment(
  plan: JobPlan,
  image: ImageFacts,
  { request, ports, progress }: Job,
  signal: AbortSignal,
): Promise<Prepared["environment"]> {
  const spec = plan.workspace.environment;
  if (spec === undefined) return null;
  try {
    const found = await ports.environments.ensure(
      { request, spec, image, ports },
      () => ports.image(null),
      signal,
    );
    progress.environment = found.report;
    return { layer: found.layer, spec };
  } catch (error) {
    if (error instanceof EnvironmentFailure) progress.environment = error.report;
    throw error;
  }
}

async function inSandbox(job: Job, prepared: Prepared, { signal, halt }: JobStops): Promise<void> {
  const { request, ports, emit, progress } = job;
  const { plan, image, workspace, environment } = prepared;
  const askedAt = performance.now();
  const own = plan.limits.container;
  // A mounted environment takes no room of the job's own.
  const isStreamed = environment !== null && workspace.layers === null;
  const order = orderOf(workspace, image.id, isStreamed ? withRoom(own, environment.layer) : own);
  const lease = await ports.timed("sandbox take", () => ports.lease(order, request, wantedOf(workspace)));
  const stop = (): void => {
    void lease.release();
  };
  signal.addEventListener("abort", stop, { once: true }); // sandbox-runner/S4
  try {
    signal.throwIfAborted();
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
    await performStages(job, prepared, lease, halt);
  } finally {
    signal.removeEventListener("abort", stop);
    ports.later(lease.release()); // sandbox-runner/S4
  }
}
