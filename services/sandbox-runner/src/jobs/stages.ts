/** Performs one stage of a plan (job-plan.ts) in the sandbox of a job. Its result is noted in the job's `Progress`. */
import { layHome, layWorkspace } from "../environments/laying.ts";
import { boundsOf, fillWorkspace } from "../workspace/workspace.ts";
import { repeatSteps } from "./further-trials.ts";
import type { Stage } from "./job-plan.ts";
import type { LeasedJob } from "./leased-job.ts";
import { runStep } from "./step.ts";

export async function perform(stage: Stage, job: LeasedJob): Promise<void> {
  const { request, ports, progress, workspace, lease } = job;
  switch (stage.kind) {
    case "lay":
      return lay(job);
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

async function lay({ layer, workspace, lease }: LeasedJob): Promise<void> {
  if (layer === null) return;
  const isMounted = workspace.layers !== null;
  // A warm sandbox over layers has its home already.
  if (!isMounted || !lease.warm) await layHome(lease.sandbox, layer, isMounted);
  if (!isMounted) await layWorkspace(lease.sandbox, layer, workspace.baseline);
}

async function collect({ ports, progress, workspace, layer, lease }: LeasedJob): Promise<void> {
  const collected = await lease.sandbox.collect(workspace.baseline, boundsOf(workspace, layer));
  progress.changes = await ports.evidence.changes(collected);
}

/** Collects after a command that did not complete. Its ending stays; if the changes cannot be read, it says so. */
export async function saveChanges(job: LeasedJob): Promise<void> {
  const { progress } = job;
  try {
    await collect(job);
  } catch (error) {
    const { ending } = progress;
    const why = error instanceof Error ? error.message : String(error);
    progress.ending = { ...ending, message: `${ending.message}; its changes could not be read: ${why}` };
  }
}
