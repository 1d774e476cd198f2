/**
 * Performs the stages of a plan (job-plan.ts), one after the other, in the sandbox of a job. The results
 * are noted in the job's `Progress`. An ending that is not `completed` skips all later stages; a command that failed skips the
 * later commands, but the changes are still collected. So are those of a command that met its time or memory limit, or was
 * halted, because the work up to there may have been paid for.
 */
import type { EnvironmentSpec, SandboxEvent, SandboxRequest } from "@antiphon/contracts";
import { environmentVariables } from "../environments/environment-variables.ts";
import { layWorkspace, nameHome, unpackHome, type LayerContent } from "../environments/laying.ts";
import { MAX_OUTPUT_BYTES } from "../job-limits.ts";
import { SandboxDied, type ImageFacts } from "../ports.ts";
import { stepEnvironment } from "../providers/container-spec.ts";
import {
  boundsOf,
  fillWorkspace,
  putRepository,
  refillWorkspace,
  type WorkspacePlan,
} from "../workspace/workspace.ts";
import { RunningServices, type ServicesParts } from "../beside/running-services.ts";
import type { Baseline, CollectBounds } from "../workspace/collected.ts";
import type { Written } from "../workspace/written.ts";
import { Asking, type AskingParts } from "./asking.ts";
import { Inbox } from "./inbox.ts";
import type { EgressLink } from "./egress-link.ts";
import { endingOfDeath, endingOfExit, type Ending } from "./ending.ts";
import type { JobPlan, PlannedStep, Stage } from "./job-plan.ts";
import type { JobPorts, Lease } from "./job-ports.ts";
import type { Progress } from "./progress.ts";
import { repeatTrials, UNTRACED, type Traced, type TrialGround } from "./trials.ts";

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
  /** Null: the job needs none. */
  readonly environment: { readonly spec: EnvironmentSpec; readonly layer: LayerContent } | null;
  /** In the order of the request. */
  readonly services: ServicesParts["services"];
}

/** A job that has its sandbox. */
interface Leased extends Prepared {
  readonly job: Job;
  readonly lease: Lease;
  readonly running: RunningServices;
  /** Null until the stage `connect`. */
  link: EgressLink | null;
  /** When the budget ends. Null until the first command. */
  endsAt: number | null;
  /** A command failed, and the request does not go on after it. */
  stopped: boolean;
  /** Aborts when the job is to end with what its commands have left so far. */
  readonly halt: AbortSignal;
  readonly asking: Asking;
  readonly inbox: Inbox;
  /** The changes are collected after this stage, so its time limit must leave the sandbox alive. */
  willCollect: boolean;
}

/** The state before the first command of a trial. */
const BEGINNING = { endsAt: null, stopped: false };

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
    ...{ sandbox: lease.sandbox, emit: job.emit, goesOnFor: lease.goesOnFor },
    ...(job.request.collect ? { tree: () => treeNow(job, prepared, lease) } : {}),
  });
  ports.onAnswer(asking);
  const inbox = new Inbox({ sandbox: lease.sandbox, emit: job.emit, first: job.request.messages ?? [] });
  ports.onInbox(inbox);
  const start = { link: null, willCollect: false, ...BEGINNING };
  const stop = AbortSignal.any([halt, asking.unanswered]);
  const leased: Leased = { ...prepared, job, lease, running, halt: stop, asking, inbox, ...start };
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
    void running.stop(); // sandbox-runner/S12
    progress.heard = inbox.heard;
    progress.services = await running.outcomes();
    progress.egress = (await leased.link?.close()) ?? null;
  }
}

/** Longer lists would not fit a message. */
const MOST_DELETIONS = 2000;

/** The changes while a command waits; null: they cannot be read, or no rule lets them out. */
async function treeNow(
  { ports }: Job,
  { workspace, environment }: Prepared,
  { sandbox }: Lease,
): ReturnType<NonNullable<AskingParts["tree"]>> {
  try {
    const collected = await sandbox.peek?.(workspace.baseline, changeBounds(workspace, environment));
    if (collected === undefined || collected.deletions.length > MOST_DELETIONS) return null;
    const { overlay, deletions } = await ports.evidence.changes(collected);
    return { overlay, deletions };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    ports.progress(`the files at the question are not kept: ${why}`);
    return null;
  }
}

function changeBounds(workspace: WorkspacePlan, environment: Prepared["environment"]): CollectBounds {
  const leftOut = environment === null ? {} : { leftOut: environment.layer.workspacePaths };
  return { ...boundsOf(workspace), ...leftOut };
}

/** A command that ended by itself, at a limit, keeps that ending. */
function haltedIn({ ending, step }: Progress, halt: AbortSignal): Ending {
  if (ending.outcome !== "completed") return ending;
  return endingOfDeath({ kind: "canceled", reason: String(halt.reason) }, step);
}

/** The ending stays that of the command; if the changes cannot be read, it says so. */
async function saveChanges(collecting: Stage, leased: Leased): Promise<void> {
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

async function perform(stage: Stage, leased: Leased): Promise<void> {
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
    case "repeat": {
      const { budgetMs } = leased.plan;
      const tookMs = leased.endsAt === null ? 0 : performance.now() - (leased.endsAt - budgetMs);
      const first = { exits: job.progress.exits, tookMs };
      job.progress.written = await repeatTrials(
        stage.trials,
        first,
        trialGround(stage.steps, leased),
        tracedIn(leased),
      );
      return;
    }
  }
}

/** Over layers only the named files can be told, because they are lifted into the top. */
function tracedIn({ job: { request }, workspace: { baseline, layers } }: Leased): Traced {
  const { traced = [], tracedTree = false } = request;
  if (!tracedTree) return { ...tracedAmong(new Set(traced)), whole: false };
  return layers === null ? { ...tracedAmong(baseline), whole: true } : UNTRACED;
}

const tracedAmong = (paths: ReadonlySet<string> | Baseline): Pick<Traced, "has" | "size"> => ({
  has: (path) => paths.has(path),
  size: paths.size,
});

/** Further trials are kept apart from the first, and are quiet. */
function trialGround(steps: readonly PlannedStep[], leased: Leased): TrialGround {
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

async function layHome({ environment, workspace, lease }: Leased): Promise<void> {
  if (environment === null) return;
  if (workspace.layers === null) await unpackHome(lease.sandbox, environment.layer);
  else await nameHome(lease.sandbox);
}

/** The repository is not among the remembered files, so all of it looks new. */
function withoutRepository(written: Written | null): Written | null {
  return written && { ...written, made: written.made.filter((path) => !path.startsWith(".git/")) };
}

/** A PATH of the run comes before that of the image, without which a command would find no shell. */
function searchPath(
  { PATH: own }: Readonly<Record<string, string>>,
  { PATH: usual = "" }: Readonly<Record<string, string>>,
): { PATH?: string } {
  if (own === undefined) return {};
  const places = own.split(":").filter((place) => place !== "");
  return { PATH: [...new Set([...places, ...usual.split(":")])].join(":") };
}

async function runStep(step: PlannedStep, leased: Leased): Promise<void> {
  const { plan, image, environment, lease, link, job, asking, inbox } = leased;
  const { progress, ports, emit } = job;
  const { id, argv, cwd } = step;
  progress.step = id;
  await progress.roomInStore();
  const plain = stepEnvironment(image, lease.sandbox.home);
  const variables = environment === null ? plain : environmentVariables(plain, environment.spec);
  const env = { ...variables, ...link?.env, ...step.env, ...searchPath(step.env, variables) };
  const path = step.asks === true ? await asking.pathFor(env) : null;
  if (path !== null) inbox.open();
  const now = performance.now();
  const waitedBefore = asking.end();
  leased.endsAt ??= now + plan.budgetMs;
  try {
    const exit = await lease.sandbox.run({
      argv,
      cwd,
      env: path === null ? env : { ...env, PATH: path },
      stdin: step.stdin === undefined ? null : Buffer.from(step.stdin, "utf8"),
      timeoutMs: Math.min(step.timeoutMs, Math.max(1, leased.endsAt - now)),
      ...(leased.willCollect ? { timeoutEnds: "command" as const } : {}),
      signal: leased.halt,
      ...(path === null ? {} : { onQuestion: (text: string) => asking.ask(text) }),
      onHeard: (heard) => {
        if (inbox.read(heard)) ports.progress(`the agent has read message ${heard.number}`);
      },
      keepBytes: plan.limits.keepBytes,
      maxOutputBytes: MAX_OUTPUT_BYTES,
      onOutput: step.quiet === true ? () => undefined : ports.onOutput,
    });
    const { timedOut, durationMs, stdout, stderr } = exit;
    const exitCode = timedOut || (leased.halt.aborted && exit.signal > 0) ? null : exit.exitCode;
    progress.keep(ports.evidence.step({ id, exitCode, timedOut, durationMs, stdout, stderr }));
    if (exitCode !== null) progress.exits.push(exitCode);
    emit({ kind: "step", id, exitCode });
    const ending = timedOut ? endingOfDeath({ kind: "timeout" }, id) : endingOfExit(exit, id);
    progress.ending = ending ?? progress.ending;
    leased.stopped = exitCode !== 0 && !step.continueOnFailure;
  } catch (error) {
    if (error instanceof SandboxDied && error.partial !== null) {
      const timedOut = error.death.kind === "timeout";
      progress.keep(ports.evidence.step({ id, exitCode: null, timedOut, ...error.partial }));
    }
    emit({ kind: "step", id, exitCode: null });
    throw error;
  } finally {
    inbox.close();
    leased.endsAt += asking.end() - waitedBefore;
  }
}
