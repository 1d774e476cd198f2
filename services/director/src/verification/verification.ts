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
import { allowsUnverified, intentOf, type EffectOf, type RunState } from "@antiphon/run";
import { EnvironmentFailed } from "../environments/environment-failed.ts";
import type {
  AppliedChange,
  CleanRoomPort,
  EnvironmentPort,
  RepositoryPort,
  VerdictEvidencePort,
} from "../ports.ts";
import { applied } from "./applying.ts";
import { approvalNeed, gatesNeeded } from "./approval-need.ts";
import type { BaseTrials } from "./base-trials.ts";
import { checksOf } from "./checks-of.ts";
import { commitMessage } from "./commit-message.ts";
import { deliveryOf, type Delivery } from "./delivery.ts";
import { gateVerdict } from "./gate-verdict.ts";
import { requireGates } from "./gates-planned.ts";
import { demandOf } from "./demand.ts";
import { deciding, judge, type Demand, type Judgement } from "./judge.ts";
import { hasReport } from "./reports/test-report.ts";
import { firstFailure } from "./trials.ts";
import { addedOf, mayRunFewer, unreportedBy } from "./reports/reported.ts";
import { ownProof } from "./own-tests.ts";
import { touchedBy } from "./touched.ts";
import { UNTRIED, type TriedOut } from "./rooms.ts";
import { tried } from "./trying.ts";

type Verify = EffectOf<"verify">;

export interface VerificationPorts {
  repository: RepositoryPort;
  room: CleanRoomPort;
  evidence: VerdictEvidencePort;
  environments?: EnvironmentPort;
  /** Absent: the base runs in each verification. */
  bases?: BaseTrials;
}

export async function verify(
  run: RunState,
  effect: Verify,
  ports: VerificationPorts,
  signal: AbortSignal,
): Promise<VerdictBody> {
  const { planned } = effect.task;
  if (planned.gate !== undefined) return gateVerdict(run, effect, planned.gate, ports);
  requireGates(planned, run.tasks, intentOf(run));
  const found = await examined(run, effect, ports, signal);
  const body = found.kind === "refused" ? refusal(run, found) : await verdictOf(run, effect, ports, found);
  return { ...body, evidence: await store(run, effect, ports, body, found) };
}

/** The change was not tried, or a setup that it needs failed. */
interface Refused {
  readonly kind: "refused";
  readonly code: string;
  readonly message: string;
  /** The environment whose setup failed. */
  readonly environment?: EnvironmentReport | null;
}

interface Examined extends Pick<Judged, "change" | "delivery"> {
  readonly kind: "tried";
  readonly outcome: TriedOut;
  readonly judgement: Judgement;
}

async function examined(
  run: RunState,
  effect: Verify,
  ports: VerificationPorts,
  signal: AbortSignal,
): Promise<Refused | Examined> {
  const { base, options } = intentOf(run);
  const checks = await checksOf(effect.task, base, ports.repository, options);
  const change = await applied(run, effect, checks, ports); // director/D4: head, patch and checks are all that counts
  if (change?.kind === "refused") return change;
  const delivery = await deliveryOf(run, effect, ports);
  if (delivery?.kind === "refused") return delivery;
  const known = { change, checks: checks.commands, demand: demandOf(run, effect.task), delivery };
  const needsEmptied = (outcome: TriedOut): boolean => {
    const { verdict, code } = judged(run, effect, known, outcome);
    return verdict === "PASS" ? code === null : code === "ANT_VERIFY_UNTESTED";
  };
  const outcome = await tried(run, effect, { ...known, needsEmptied }, ports, signal);
  if (outcome instanceof AntiphonError) {
    const environment = outcome instanceof EnvironmentFailed ? outcome.report : null;
    return { kind: "refused", code: outcome.code, message: outcome.detail, environment };
  }
  return { kind: "tried", change, delivery, outcome, judgement: judged(run, effect, known, outcome) };
}

interface Judged {
  readonly change: AppliedChange | null;
  readonly checks: readonly string[];
  readonly demand: Demand;
  readonly delivery: Exclude<Delivery, { kind: "refused" }> | null;
}

function judged(
  run: RunState,
  { task: { planned } }: Verify,
  { change, checks, demand, delivery }: Judged,
  outcome: TriedOut,
): Judgement {
  const { options } = intentOf(run);
  const { criteria = [] } = planned;
  return judge({
    change: outcome.change.trials,
    base: outcome.base?.trials ?? null,
    hollow: outcome.hollow?.trials ?? null,
    emptied: outcome.emptied?.trials ?? null,
    ...addedOf(change, outcome),
    own: ownProof(outcome.own),
    unreported: unreportedBy(outcome, checks, mayRunFewer(change, options.grants)),
    aware: awareIn(change, outcome),
    tampering: tamperingOf(change, options.grants, outcome),
    ...touchedBy(change),
    unproven: change?.unproven ?? [],
    demand,
    readOnly: change === null,
    delivered: delivery?.says ?? null,
    undecided: criteria.flatMap(({ criterion, check }) => (check === null ? [criterion] : [])),
    allowUnverified: allowsUnverified(run),
  });
}

/** A verdict without its evidence. */
type Body = Omit<VerdictBody, "evidence">;

function refusal(run: RunState, { code, message }: Refused): Body {
  const untried = { checks: [], baseChecks: [], head: run.head, commit: null, tree: null };
  return { verdict: "FAIL", code, message, proves: "nothing", ...untried };
}

/** With its commit, and the approval that it needs. */
async function verdictOf(
  run: RunState,
  { phase, task, taskId }: Verify,
  { repository }: VerificationPorts,
  { change, judgement, outcome }: Examined,
): Promise<Body> {
  const { base, policy } = intentOf(run);
  const { proves } = judgement;
  const lands = judgement.verdict === "PASS" ? change : null;
  const commit =
    lands === null
      ? null
      : await repository.commit(base.repo, {
          parent: run.head,
          candidate: lands.candidate,
          at: phase.at,
          ...commitMessage(run.runId, task, phase, proves),
        });
  const gates = lands === null ? [] : gatesNeeded(lands.files, taskId, run.tasks);
  const need =
    lands === null ? null : approvalNeed({ files: lands.files, proves }, policy, task.planned.approvals);
  return {
    ...judgement,
    ...(need === null ? {} : { approval: need }),
    ...(gates.length === 0 ? {} : { gates }),
    checks: [...deciding(outcome.change.trials)],
    baseChecks: [...deciding(outcome.base?.trials ?? [])],
    trials: { change: outcome.change.trials.length, base: outcome.base?.trials.length ?? 0 },
    head: run.head,
    commit,
    tree: change?.candidate.tree ?? null,
  };
}

/** A report of a test runner shows that an error was not caught on its way. */
function awareIn(change: AppliedChange | null, { change: { reports }, elsewhere }: TriedOut): string[] {
  const isReported = reports !== undefined && reports.length > 0 && reports.every(hasReport);
  const signs = (change?.aware ?? []).filter(({ ifUnreported }) => !ifUnreported || !isReported);
  const bad = firstFailure(elsewhere?.trials[0] ?? []);
  const moved =
    elsewhere === undefined || bad === undefined
      ? []
      : [`${bad.command} passes at /workspace and fails ${elsewhere.where}`];
  const said = signs.map(({ path, what, line }) => `${path}${line === undefined ? "" : `:${line}`} ${what}`);
  return [...said, ...moved];
}

/** What the change's code did to the files that judge it, and the base's code did not. */
function tamperingOf(change: AppliedChange | null, grants: readonly string[], outcome: TriedOut): string[] {
  const { written } = outcome.change;
  if (change === null || written === null) return [];
  const found = tamperings(change.guards, grants, written);
  const known = outcome.base?.written == null ? [] : tamperings(change.guards, grants, outcome.base.written);
  return besides(found, known).map(({ what }) => what);
}

async function store(
  run: RunState,
  { taskId: task, epoch }: Verify,
  { evidence }: VerificationPorts,
  body: Body,
  found: Refused | Examined,
): Promise<NonNullable<VerdictBody["evidence"]>> {
  const isRefused = found.kind === "refused";
  const { change, base, hollow, emptied, withoutJudges, own } = isRefused ? UNTRIED : found.outcome;
  const environment = isRefused ? found.environment : change.environment;
  return evidence.store({
    ...body,
    ...{ run: run.runId, task, epoch },
    environment: environment ?? null,
    services: change.services ?? [],
    files: isRefused ? [] : (found.delivery?.files ?? []),
    trials: {
      change: change.trials,
      base: base?.trials ?? [],
      hollow: hollow?.trials ?? [],
      emptied: emptied?.trials ?? [],
      withoutJudges: withoutJudges?.trials ?? [],
      own: own?.onBase?.trials ?? [],
    },
  });
}
