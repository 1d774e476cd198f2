/**
 * Performs the stages of a plan (job-plan.ts), one after the other, in the sandbox of a job. The results
 * are noted in the job's `Progress`. An ending that is not `completed` skips all later stages; a command that failed skips the
 * later commands, but the changes are still collected. So are those of a command that met its time or memory limit, or was
 * halted, because the work up to there may have been paid for.
 */
import { layWorkspace } from "../environments/laying.ts";
import { RunningServices } from "../beside/running-services.ts";
import { fillWorkspace } from "../workspace/workspace.ts";
import { Asking } from "./asking.ts";
import { changeBounds, treeNow } from "./changes-now.ts";
import { endingOfDeath, type Ending } from "./ending.ts";
import { layHome, repeatSteps } from "./further-trials.ts";
import { Inbox } from "./inbox.ts";
import type { Stage } from "./job-plan.ts";
import type { Lease } from "./job-ports.ts";
import { BEGINNING, type Job, type LeasedJob, type Prepared } from "./leased-job.ts";
import type { Progress } from "./progress.ts";
import { runStep } from "./step.ts";

export async function performStages(
  job: Job,
  prepared: Prepared,
  lease: Lease,
  halt: AbortSignal,
): Promise<void> {
  const { progress } = job;
  const { plan, services } = prepared;
  const { ports } = job;
  const { keepBytes } = plan.limits;
  const running = new RunningServices({
    ...{ ports, main: lease.sandbox, job: job.request, keepBytes, services },
  });
  const asking = new Asking({
    ...{ sandbox: lease.sandbox, emit: job.emit, goesOnFor: lease.goesOnFor, report: ports.progress },
    ...(job.request.collect ? { tree: () => treeNow(job, prepared, lease) } : {}),
  });
  ports.onAnswer(asking);
  const inbox = new Inbox({ sandbox: lease.sandbox, emit: job.emit, first: job.request.messages ?? [] });
  ports.onInbox(inbox);
  const start = { link: null, willCollect: false, ...BEGINNING };
  const stop = AbortSignal.any([halt, asking.unanswered]);
  const leased: LeasedJob = { ...prepared, job, lease, running, halt: stop, asking, inbox, ...start };
  try {
    for (const [i, stage] of plan.stages.entries()) {
      const collecting = plan.stages.slice(i + 1).find(({ kind }) => kind === "collect");
      leased.willCollect = collecting !== undefined;
      await job.ports.timed(nameOf(stage), () => perform(stage, leased));
      if (stop.aborted) progress.ending = haltedIn(progress, stop);
      if (progress.ending.outcome === "completed") continue;
      if (collecting !== undefined && progress.step !== null) await saveChanges(collecting, leased);
      return;
    }
  } finally {
    void running.stop(); // sandbox-runner/S4
    progress.heard = inbox.heard;
    progress.services = await running.outcomes();
    progress.egress = (await leased.link?.close()) ?? null;
  }
}

/** A command that ended by itself, at a limit, keeps that ending. */
function haltedIn({ ending, step }: Progress, halt: AbortSignal): Ending {
  if (ending.outcome !== "completed") return ending;
  return endingOfDeath({ kind: "canceled", reason: String(halt.reason) }, step);
}

/** The ending stays that of the command; if the changes cannot be read, it says so. */
async function saveChanges(collecting: Stage, leased: LeasedJob): Promise<void> {
  const { progress } = leased.job;
  try {
    await perform(collecting, leased);
  } catch (error) {
    const { ending } = progress;
    const why = error instanceof Error ? error.message : String(error);
    progress.ending = { ...ending, message: `${ending.message}; its changes could not be read: ${why}` };
  }
}

/** The name of a stage in a trace. */
const nameOf = (stage: Stage): string =>
  stage.kind === "run" ? `sandbox run ${stage.step.id}` : `sandbox ${stage.kind}`;

async function perform(stage: Stage, leased: LeasedJob): Promise<void> {
  const { job, lease, workspace, environment } = leased;
  switch (stage.kind) {
    case "lay":
      if (environment === null) return;
      // A warm sandbox over layers has its home already.
      if (!lease.warm || workspace.layers === null) await layHome(leased);
      if (workspace.layers === null) await layWorkspace(lease.sandbox, environment.layer, workspace.baseline);
      return;
    case "fill":
      return fillWorkspace(lease, workspace, stage.remembering, job.request.traced);
    case "connect":
      leased.link = await job.ports.egress(job.request, stage.grant, lease.sandbox);
      return;
    case "serve":
      return leased.running.start();
    case "run":
      if (!leased.stopped) await runStep(stage.step, leased);
      return;
    case "collect": {
      const bounds = changeBounds(workspace, environment);
      const collected = await lease.sandbox.collect(workspace.baseline, bounds);
      job.progress.changes = await job.ports.evidence.changes(collected);
      return;
    }
    case "repeat":
      job.progress.written = await repeatSteps(stage, leased);
      return;
  }
}
