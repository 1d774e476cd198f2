/** Tries the commands of a verdict again in the same sandbox (trials.ts says why and how often). */
import { layWorkspace, nameHome, unpackHome } from "../environments/laying.ts";
import type { Baseline } from "../workspace/collected.ts";
import { putRepository, refillWorkspace } from "../workspace/workspace.ts";
import type { Written } from "../workspace/written.ts";
import type { PlannedStep, Stage } from "./job-plan.ts";
import { BEGINNING, type LeasedJob } from "./leased-job.ts";
import { runStep } from "./step.ts";
import { repeatTrials, UNTRACED, type Traced, type TrialGround } from "./trials.ts";

/** Tries the steps again, and reports what all trials did to the files; null: the supervisor cannot tell. */
export async function repeatSteps(
  { steps, trials }: Extract<Stage, { kind: "repeat" }>,
  leased: LeasedJob,
): ReturnType<typeof repeatTrials> {
  const { endsAt, plan, job } = leased;
  const tookMs = endsAt === null ? 0 : performance.now() - (endsAt - plan.budgetMs);
  const first = { exits: job.progress.exits, tookMs };
  return repeatTrials(trials, first, trialGround(steps, leased), tracedIn(leased));
}

/** Over layers only the named files can be told, because they are lifted into the top. */
function tracedIn({ job: { request }, workspace: { baseline, layers } }: LeasedJob): Traced {
  const { traced = [], tracedTree = false } = request;
  if (!tracedTree) return { ...tracedAmong(new Set(traced)), whole: false };
  return layers === null ? { ...tracedAmong(baseline), whole: true } : UNTRACED;
}

const tracedAmong = (paths: ReadonlySet<string> | Baseline): Pick<Traced, "has" | "size"> => ({
  has: (path) => paths.has(path),
  size: paths.size,
});

/** Further trials are kept apart from the first, and are quiet. */
function trialGround(steps: readonly PlannedStep[], leased: LeasedJob): TrialGround {
  const { job, lease, workspace, environment } = leased;
  const { sandbox } = lease;
  const lay = async (): Promise<void> => {
    if (environment !== null) await layWorkspace(sandbox, environment.layer, workspace.baseline);
  };
  return {
    run: async () => {
      await layHome(leased); // it was cleared with the temporary directories
      await leased.running.start(); // a database of the trial before would be another start
      const progress = job.progress.trial();
      const ports = { ...job.ports, onOutput: () => undefined };
      const own = { ...leased, job: { ...job, progress, ports, emit: () => undefined }, ...BEGINNING };
      for (const step of steps) if (!own.stopped) await runStep(step, own);
      return progress.exits;
    },
    survey: async (clear) => {
      const { written, cleared } = (await sandbox.written?.(clear)) ?? { written: null, cleared: false };
      return { written: workspace.git === null ? written : withoutRepository(written), cleared };
    },
    refill: (filesChanged) =>
      filesChanged
        ? refillWorkspace(sandbox, workspace, lay, job.request.traced)
        : putRepository(sandbox, workspace),
    now: () => performance.now(),
  };
}

export async function layHome({ environment, workspace, lease }: LeasedJob): Promise<void> {
  if (environment === null) return;
  if (workspace.layers === null) await unpackHome(lease.sandbox, environment.layer);
  else await nameHome(lease.sandbox);
}

/** The repository is not among the remembered files, so all of it looks new. */
function withoutRepository(written: Written | null): Written | null {
  return written && { ...written, made: written.made.filter((path) => !path.startsWith(".git/")) };
}
