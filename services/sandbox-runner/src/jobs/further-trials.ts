/** Tries the commands of a verdict again in the same sandbox (trials.ts says why and how often). */
import type { Baseline } from "../workspace/collected.ts";
import { layHome } from "../environments/laying.ts";
import { refillWorkspace } from "../workspace/workspace.ts";
import type { Written } from "../workspace/written.ts";
import type { PlannedStep, Stage } from "./job-plan.ts";
import { BEGINNING, type LeasedJob } from "./leased-job.ts";
import { runStep } from "./step.ts";
import { repeatTrials, UNTRACED, type Traced, type TrialGround } from "./trials.ts";

/** Tries the steps again, and reports what all trials did to the files; null: the supervisor cannot tell. */
export async function repeatSteps(
  { steps, trials }: Extract<Stage, { kind: "repeat" }>,
  job: LeasedJob,
): ReturnType<typeof repeatTrials> {
  const { endsAt, request, progress } = job;
  const tookMs = endsAt === null ? 0 : performance.now() - (endsAt - request.budgetMs);
  return repeatTrials(trials, { exits: progress.exits, tookMs }, trialGround(steps, job), tracedIn(job));
}

/** Over layers only the named files can be told, because they are lifted into the top. */
function tracedIn({ request, workspace: { baseline, layers } }: LeasedJob): Traced {
  const { traced = [], tracedTree = false } = request;
  if (!tracedTree) return { ...tracedAmong(new Set(traced)), whole: false };
  return layers === null ? { ...tracedAmong(baseline), whole: true } : UNTRACED;
}

const tracedAmong = (paths: ReadonlySet<string> | Baseline): Pick<Traced, "has" | "size"> => ({
  has: (path) => paths.has(path),
  size: paths.size,
});

/** Further trials are kept apart from the first, and are quiet. */
function trialGround(steps: readonly PlannedStep[], job: LeasedJob): TrialGround {
  const { request, workspace, running } = job;
  const { sandbox } = job.lease;
  const ports = { ...job.ports, onOutput: () => undefined };
  return {
    run: async () => {
      await layHome(sandbox, workspace); // it was cleared with the temporary directories
      await running.start(); // a database of the trial before would be another start
      const progress = job.progress.trial();
      const trial = { ...job, progress, ports, emit: () => undefined, ...BEGINNING };
      for (const step of steps) if (!trial.stopped) await runStep(step, trial);
      return progress.exits;
    },
    survey: async (clear) => {
      const { written, cleared } = (await sandbox.written?.(clear)) ?? { written: null, cleared: false };
      return { written: workspace.git === null ? written : withoutRepository(written), cleared };
    },
    refill: (filesChanged) => refillWorkspace(sandbox, workspace, filesChanged, request.traced),
    now: () => performance.now(),
  };
}

/** The repository is not among the remembered files, so all of it looks new. */
function withoutRepository(written: Written | null): Written | null {
  return written && { ...written, made: written.made.filter((path) => !path.startsWith(".git/")) };
}
