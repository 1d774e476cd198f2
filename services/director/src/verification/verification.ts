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
import type { VerdictBody } from "@antiphon/contracts";
import { intentOf, type EffectOf, type RunState } from "@antiphon/run";
import type { CleanRoomPort, EnvironmentPort, RepositoryPort, VerdictEvidencePort } from "../ports.ts";
import { approvalNeed, gatesNeeded } from "./approval-need.ts";
import type { BaseTrials } from "./base-trials.ts";
import { commitMessage } from "./commit-message.ts";
import { examined, type Examined, type Refused } from "./examined.ts";
import { gateVerdict } from "./gate-verdict.ts";
import { requireGates } from "./gates-planned.ts";
import { UNTRIED } from "./tried-out.ts";
import { deciding } from "./trials.ts";

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
