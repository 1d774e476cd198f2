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
 * Promises:
 *   sandbox-runner/S6 Because a requester can die or cancel at any moment, its sandbox is released on every path: a job
 *     or session is canceled when its holder was silent for limits.sandboxSilenceMs, and at once when it is told to stop.
 *   sandbox-runner/S7 Because code under test could forge the frames of a plain supervisor, a job for a verdict runs in
 *     a sealed sandbox or is refused.
 */
import { AntiphonError, type SandboxOutcome, type SandboxRequest } from "@antiphon/contracts";
import { planWorkspace } from "../workspace/workspace.ts";
import { endingOfFailure } from "./ending.ts";
import { planJob, type JobPlan } from "./job-plan.ts";
import type { JobPorts } from "./job-ports.ts";
import { Progress } from "./progress.ts";
import { performStages, type Job, type Prepared } from "./stages.ts";

export async function runJob(
  request: SandboxRequest,
  ports: JobPorts,
  emit: Job["emit"],
  signal: AbortSignal,
): Promise<SandboxOutcome> {
  const { node, provider, defaults } = ports;
  const progress = new Progress({ node, provider, image: request.image ?? "" });
  const job: Job = { request, ports, emit, progress };
  try {
    const plan = planJob(request, defaults);
    const prepared = await prepare(plan, job);
    signal.throwIfAborted();
    await inSandbox(job, prepared, signal);
  } catch (error) {
    progress.ending = endingOfFailure(error, progress.step, signal);
  }
  return progress.outcome((error) => endingOfFailure(error, null, signal));
}

/** Resolves, fetches and checks everything that the stages need, before a sandbox is taken. */
async function prepare(plan: JobPlan, { ports, emit, progress }: Job): Promise<Prepared> {
  const image = await ports.image(plan.image);
  progress.meta.image = image.id;
  emit({ kind: "accepted", node: ports.node, image: image.id });
  const { workspaceBytes } = plan.limits.container;
  const workspace = await planWorkspace(plan.workspace, ports.sources, workspaceBytes);
  return { plan, image, workspace };
}

async function inSandbox(job: Job, prepared: Prepared, signal: AbortSignal): Promise<void> {
  const { request, ports, emit, progress } = job;
  const { plan, image, workspace } = prepared;
  const askedAt = performance.now();
  const order = { imageId: image.id, limits: plan.limits.container };
  const lease = await ports.lease(order, request, workspace.tree?.name ?? null);
  const stop = (): void => {
    void lease.release();
  };
  signal.addEventListener("abort", stop, { once: true }); // sandbox-runner/S6
  try {
    signal.throwIfAborted();
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
    await performStages(job, prepared, lease);
  } finally {
    signal.removeEventListener("abort", stop);
    ports.later(lease.release()); // sandbox-runner/S6
  }
}
