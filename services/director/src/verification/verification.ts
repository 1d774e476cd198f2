/**
 * The Director's verification: policy, patch on the run's head, clean room, verdict, commit object. The tree that is
 * checked is the tree of the commit that will land.
 *
 * The commit the run started from decides once which checks the run has; no task can choose the check of the next one.
 * Promises:
 *   director/D4 Because an agent controls every byte of its own sandbox, a verdict uses only the head, the patch and
 *     the run's checks in a fresh clean room, never the Associate's report; a clean room that was stopped yields no
 *     verdict.
 */
import { AntiphonError, type EnvironmentReport, type VerdictBody } from "@antiphon/contracts";
import { besides, tamperings } from "@antiphon/git";
import { intentOf, type EffectOf, type RunState } from "@antiphon/run";
import type {
  AppliedChange,
  CleanRoomPort,
  EnvironmentPort,
  RepositoryPort,
  TextFile,
  VerdictEvidencePort,
} from "../ports.ts";
import { approvalNeed } from "./approval-need.ts";
import { commitMessage } from "./commit-message.ts";
import { deliveryOf } from "./delivery.ts";
import { demandOf, needsBase } from "./demand.ts";
import { historyOf } from "./history.ts";
import { deciding, judge, type Trial } from "./judge.ts";
import { addedOf, mayRunFewer, unreportedBy } from "./reports/reported.ts";
import { tryOut, UNTRIED, type TriedOut } from "./rooms.ts";
import { EnvironmentFailed } from "../environments/environment-failed.ts";
import { setupOf } from "../environments/dispatch-environment.ts";
import { roomOf } from "../environments/run-room.ts";
import { trialsFor } from "./trials.ts";

type Verify = EffectOf<"verify">;
/** The commands that decide, and whether the repository named them. */
type Checks = { commands: readonly string[]; discovered: boolean };

export interface VerificationPorts {
  repository: RepositoryPort;
  room: CleanRoomPort;
  evidence: VerdictEvidencePort;
  environments?: EnvironmentPort;
}

export async function verify(
  run: RunState,
  effect: Verify,
  ports: VerificationPorts,
  signal: AbortSignal,
): Promise<VerdictBody> {
  const { options, base, policy } = intentOf(run);
  const { task, phase } = effect;
  const head = run.head; // director/D4: head, patch and checks are all that counts
  const checks = await checksOf(run, effect, ports.repository);
  const { criteria = [], scope: files } = task.planned;
  const readOnly = task.planned.task.kind !== "edit_repo";
  const patch = phase.report.patch;
  if (patch !== null && readOnly) {
    return refused(run, effect, ports, "ANT_TASK_MODIFIED_FILES", "a task that only reads changed files");
  }
  if (patch === null && !readOnly) {
    return refused(run, effect, ports, "ANT_PATCH_EMPTY", "the attempt changed nothing");
  }
  let applied: AppliedChange | null = null;
  if (patch !== null) {
    const bytes = await ports.evidence.patch(patch);
    const outcome = await ports.repository.candidate(base.repo, head, bytes, {
      scope: options.scope,
      grants: options.grants,
      checks: checks.commands,
      discovered: checks.discovered,
      base: base.commit,
      ...(policy === undefined ? {} : { policy }),
      ...(files === undefined ? {} : { files }),
    });
    if (outcome.kind === "refused") return refused(run, effect, ports, outcome.code, outcome.message);
    applied = outcome;
  }
  const delivery = await deliveryOf(run, effect, ports);
  if (delivery?.kind === "refused") return refused(run, effect, ports, delivery.code, delivery.message);
  const demand = demandOf(run, task);
  const subject = { applied, checks: checks.commands, demand };
  const tried = await tryAll(run, effect, ports, subject, signal).catch((error: unknown) => {
    if (error instanceof EnvironmentFailed || isServiceFailure(error)) return error;
    throw error;
  });
  if (tried instanceof AntiphonError && !(tried instanceof EnvironmentFailed))
    return refused(run, effect, ports, tried.code, tried.detail);
  // The environment of the base was prepared before the attempt, so the change is what broke it.
  if (tried instanceof EnvironmentFailed)
    return refused(run, effect, ports, tried.code, tried.detail, tried.report);
  const added = addedOf(applied, tried);
  const judgement = judge({
    change: tried.change.trials,
    base: tried.base?.trials ?? null,
    hollow: tried.hollow?.trials ?? null,
    ...added,
    unreported: unreportedBy(tried, checks.commands, mayRunFewer(applied, options.grants)),
    tampering: tamperingOf(applied, options.grants, tried),
    unproven: applied?.unproven ?? [],
    demand,
    readOnly,
    delivered: delivery?.says ?? null,
    undecided: criteria.flatMap(({ criterion, check }) => (check === null ? [criterion] : [])),
    allowUnverified: options.allow_unverified,
  });
  const commit =
    judgement.verdict === "PASS" && applied !== null
      ? await ports.repository.commit(base.repo, {
          parent: head,
          candidate: applied.candidate,
          at: phase.at,
          ...commitMessage(run.runId, effect.task, phase),
        })
      : null;
  const { proves } = judgement;
  const need =
    commit === null || applied === null
      ? null
      : approvalNeed({ files: applied.files, proves }, policy, task.planned.approvals);
  const body = {
    ...judgement,
    ...(need === null ? {} : { approval: need }),
    checks: [...deciding(tried.change.trials)],
    baseChecks: [...deciding(tried.base?.trials ?? [])],
    trials: countOf(tried),
    head,
    commit,
    tree: applied?.candidate.tree ?? null,
  };
  return { ...body, evidence: await store(run, effect, ports, body, tried, delivery?.files) };
}

async function tryAll(
  run: RunState,
  effect: Verify,
  ports: VerificationPorts,
  subject: { applied: AppliedChange | null; checks: readonly string[]; demand: Trial["demand"] },
  signal: AbortSignal,
): Promise<TriedOut> {
  const { applied, checks, demand } = subject;
  if (checks.length === 0) return UNTRIED;
  const { options, base, policy } = intentOf(run);
  const { planned, feedback } = effect.task;
  const trials = trialsFor({
    asked: options.trials,
    atLeast: policy?.min_trials,
    chance: applied?.chance ?? null,
    wasFlaky: feedback.some(({ code }) => code === "ANT_VERIFY_FLAKY"),
  });
  const request = {
    run: run.runId,
    task: effect.taskId,
    epoch: effect.epoch,
    purpose: "verify" as const,
    tree: await ports.repository.exportBase(base.repo, run.head),
    history: await historyOf(run, run.head, ports.repository),
    candidate: applied?.candidate ?? null,
    checks,
    image: options.image ?? null,
    room: roomOf(options),
    budgetMs: planned.task.time_budget_s * 1000,
    trials,
    setup: setupOf(run),
  };
  // director/D5: edited sources that the check runs, and demands, need the answer of the base regardless of its time.
  const waitForBase = (applied?.unproven ?? []).length > 0 || needsBase(demand, policy);
  const judges = [...(applied?.judges ?? []), ...(applied?.tests ?? [])];
  const unnamed = (opened: ReadonlySet<string>): Promise<readonly string[]> => {
    if (applied === null) return Promise.resolve([]);
    return ports.repository.openedFiles(base.repo, run.head, applied, { grants: options.grants, opened });
  };
  return tryOut({ request, judges, unnamed, waitForBase }, ports.room, signal);
}

/** A service sees no file of the change, so the same would happen again. */
function isServiceFailure(error: unknown): error is AntiphonError {
  return error instanceof AntiphonError && error.code === "ANT_SERVICE_FAILED";
}

/** What the change's code did to the files that judge it, and the base's code did not. */
function tamperingOf(applied: AppliedChange | null, grants: readonly string[], tried: TriedOut): string[] {
  const { change, base } = tried;
  if (applied === null || change.written === null) return [];
  const found = tamperings(applied.guards, grants, change.written);
  const known = base?.written == null ? [] : tamperings(applied.guards, grants, base.written);
  return besides(found, known).map(({ what }) => what);
}

function countOf({ change, base }: TriedOut): NonNullable<VerdictBody["trials"]> {
  const { length } = change.trials;
  return { change: length, base: base?.trials.length ?? 0 };
}

async function store(
  run: RunState,
  effect: Verify,
  ports: VerificationPorts,
  body: Omit<VerdictBody, "evidence" | "trials">,
  tried: TriedOut,
  files: readonly TextFile[] = [],
): Promise<NonNullable<VerdictBody["evidence"]>> {
  return ports.evidence.store({
    ...body,
    run: run.runId,
    task: effect.taskId,
    epoch: effect.epoch,
    environment: tried.change.environment ?? null,
    services: tried.change.services ?? [],
    files,
    trials: {
      change: tried.change.trials,
      base: tried.base?.trials ?? [],
      hollow: tried.hollow?.trials ?? [],
      withoutJudges: tried.withoutJudges?.trials ?? [],
    },
  });
}

/**
 * The contract's commands; if it names none and wants some, the fastest obvious check of the run's base. The head is never asked,
 * because a task could then choose the check of the next one.
 */
async function checksOf(run: RunState, effect: Verify, repository: RepositoryPort): Promise<Checks> {
  const { commands: named, mode } = effect.task.planned.task.verify_profile;
  if (named.length > 0 || mode === "none") return { commands: named, discovered: false };
  const { base } = intentOf(run);
  return { commands: await repository.discoverChecks(base.repo, base.commit), discovered: true };
}

async function refused(
  run: RunState,
  effect: Verify,
  ports: VerificationPorts,
  code: string,
  message: string,
  environment: EnvironmentReport | null = null,
): Promise<VerdictBody> {
  const body = {
    verdict: "FAIL" as const,
    code,
    message,
    proves: "nothing" as const,
    checks: [],
    baseChecks: [],
    head: run.head,
    commit: null,
    tree: null,
  };
  const change = environment === null ? UNTRIED.change : { ...UNTRIED.change, environment };
  return { ...body, evidence: await store(run, effect, ports, body, { ...UNTRIED, change }) };
}
