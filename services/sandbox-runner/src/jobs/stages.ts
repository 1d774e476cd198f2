/**
 * Performs the stages of a plan (job-plan.ts), one after the other, in the sandbox of a job. What they find out is noted
 * in the job's `Progress`. An ending that is not `completed` skips all later stages; a command that failed skips the
 * later commands, but the changes are still collected.
 */
import type { SandboxEvent, SandboxRequest } from "@antiphon/contracts";
import type { Lease } from "../pool/pool.ts";
import { MAX_OUTPUT_BYTES } from "../job-limits.ts";
import { SandboxDied, type ImageFacts } from "../ports.ts";
import { stepEnvironment } from "../providers/container-spec.ts";
import { boundsOf, fillWorkspace, type WorkspacePlan } from "../workspace/workspace.ts";
import type { EgressLink } from "./egress-link.ts";
import { endingOfExit } from "./ending.ts";
import type { JobPlan, PlannedStep, Stage } from "./job-plan.ts";
import type { JobPorts } from "./job-ports.ts";
import type { Progress } from "./progress.ts";

export interface Job {
  readonly request: SandboxRequest;
  readonly ports: JobPorts;
  readonly emit: (event: SandboxEvent) => void;
  readonly progress: Progress;
}

/** Everything that was resolved, fetched and checked before a sandbox was taken. */
export interface Prepared {
  readonly plan: JobPlan;
  readonly image: ImageFacts;
  readonly workspace: WorkspacePlan;
}

/** A job that has its sandbox. */
interface Leased extends Prepared {
  readonly job: Job;
  readonly lease: Lease;
  /** Null until the stage `connect`. */
  link: EgressLink | null;
  /** When the budget ends. Null until the first command. */
  endsAt: number | null;
  /** A command failed, and the request does not go on after it. */
  stopped: boolean;
}

export async function performStages(job: Job, prepared: Prepared, lease: Lease): Promise<void> {
  const { progress } = job;
  const leased: Leased = { ...prepared, job, lease, link: null, endsAt: null, stopped: false };
  try {
    for (const stage of prepared.plan.stages) {
      await perform(stage, leased);
      if (progress.ending.outcome !== "completed") return;
    }
  } finally {
    progress.egress = (await leased.link?.close()) ?? null;
  }
}

async function perform(stage: Stage, leased: Leased): Promise<void> {
  const { job, lease, workspace } = leased;
  switch (stage.kind) {
    case "fill":
      return fillWorkspace(lease, workspace, stage.collects);
    case "connect":
      leased.link = await job.ports.egress(job.request, stage.grant, lease.sandbox);
      return;
    case "run":
      if (!leased.stopped) await runStep(stage.step, leased);
      return;
    case "collect": {
      const collected = await lease.sandbox.collect(workspace.baseline, boundsOf(workspace));
      job.progress.changes = await job.ports.evidence.changes(collected);
      return;
    }
  }
}

async function runStep(step: PlannedStep, leased: Leased): Promise<void> {
  const { plan, image, lease, link, job } = leased;
  const { progress, ports, emit } = job;
  const { id, argv, cwd } = step;
  progress.step = id;
  await progress.roomInStore();
  const now = performance.now();
  leased.endsAt ??= now + plan.budgetMs;
  try {
    const exit = await lease.sandbox.run({
      argv,
      cwd,
      env: { ...stepEnvironment(image), ...link?.env, ...step.env },
      stdin: step.stdin === undefined ? null : Buffer.from(step.stdin, "utf8"),
      timeoutMs: Math.min(step.timeoutMs, Math.max(1, leased.endsAt - now)),
      keepBytes: plan.limits.keepBytes,
      maxOutputBytes: MAX_OUTPUT_BYTES,
      onOutput: step.quiet === true ? () => undefined : ports.onOutput,
    });
    const { exitCode, durationMs, stdout, stderr } = exit;
    progress.keep(ports.evidence.step({ id, exitCode, timedOut: false, durationMs, stdout, stderr }));
    emit({ kind: "step", id, exitCode });
    progress.ending = endingOfExit(exit, id) ?? progress.ending;
    leased.stopped = exitCode !== 0 && !step.continueOnFailure;
  } catch (error) {
    if (error instanceof SandboxDied && error.partial !== null) {
      const timedOut = error.death.kind === "timeout";
      progress.keep(ports.evidence.step({ id, exitCode: null, timedOut, ...error.partial }));
    }
    emit({ kind: "step", id, exitCode: null });
    throw error;
  }
}
