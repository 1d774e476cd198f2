/**
 * The Director's verification: policy, patch on the run's head, clean room, verdict, commit object. The tree that is
 * checked is the tree of the commit that will land.
 *
 * The commit the run started from decides once which checks the run has; no task can choose the check of the next one.
 * When one clean room of a trial breaks, the other is stopped and waited for: left alone, no cancel of the run would
 * reach it, and the next try would run beside it.
 *
 * Promises:
 *   director/D4 Because an agent controls every byte of its own sandbox, a verdict uses only the head, the patch and
 *     the run's checks in a fresh clean room, never the Associate's report; a clean room that was stopped yields no
 *     verdict.
 */
import type { CheckOutcome, VerdictBody } from "@antiphon/contracts";
import { commitMessage } from "./commit-message.ts";
import { firstFailure, judge } from "./judge.ts";
import type { Unproven } from "@antiphon/git";
import { intentOf, type EffectOf, type RunState } from "@antiphon/run";
import type { Candidate, CleanRoomPort, RepositoryPort, RoomRequest, VerdictEvidencePort } from "../ports.ts";

type Verify = EffectOf<"verify">;
type Trial = { checks: CheckOutcome[]; again: CheckOutcome[] | null; base: CheckOutcome[] | null };
/** The commands that decide, and whether the repository named them. */
type Checks = { commands: readonly string[]; discovered: boolean };

export interface VerificationPorts {
  repository: RepositoryPort;
  room: CleanRoomPort;
  evidence: VerdictEvidencePort;
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
  const readOnly = task.planned.task.kind !== "edit_repo";
  const patch = phase.report.patch;
  if (patch === null && !readOnly) {
    return refused(run, effect, ports, "ANT_PATCH_EMPTY", "the attempt changed nothing");
  }
  let candidate: Candidate | null = null;
  let unproven: readonly Unproven[] = [];
  if (patch !== null) {
    const bytes = await ports.evidence.patch(patch);
    const outcome = await ports.repository.candidate(base.repo, head, bytes, {
      scope: options.scope,
      grants: options.grants,
      checks: checks.commands,
      discovered: checks.discovered,
      base: base.commit,
      ...(policy === undefined ? {} : { policy }),
    });
    if (outcome.kind === "refused") return refused(run, effect, ports, outcome.code, outcome.message);
    ({ candidate, unproven } = outcome);
  }
  const withBase = unproven.length > 0 || provesAFix(run, effect); // director/D5
  const subject = { candidate, checks: checks.commands, head, withBase };
  const trial = await runTrial(run, effect, ports, subject, signal);
  const judgement = judge({
    ...trial,
    unproven,
    readOnly,
    allowUnverified: options.allow_unverified,
    allowUnproven: options.allow_unproven,
  });
  const commit =
    judgement.verdict === "PASS" && candidate !== null
      ? await ports.repository.commit(base.repo, {
          parent: head,
          candidate,
          at: phase.at,
          ...commitMessage(run.runId, effect.task, phase),
        })
      : null;
  const body = {
    ...judgement,
    checks: trial.checks,
    baseChecks: trial.base ?? [],
    head,
    commit,
    tree: candidate?.tree ?? null,
  };
  const evidence = await ports.evidence.store({
    ...body,
    run: run.runId,
    task: effect.taskId,
    epoch: effect.epoch,
    again: trial.again,
  });
  return { ...body, evidence };
}

async function runTrial(
  run: RunState,
  effect: Verify,
  ports: VerificationPorts,
  subject: { candidate: Candidate | null; checks: readonly string[]; head: string; withBase: boolean },
  signal: AbortSignal,
): Promise<Trial> {
  if (subject.checks.length === 0) return { checks: [], again: null, base: null };
  const { options, base } = intentOf(run);
  const request: RoomRequest = {
    run: run.runId,
    task: effect.taskId,
    epoch: effect.epoch,
    purpose: "verify",
    tree: await ports.repository.exportBase(base.repo, subject.head),
    candidate: subject.candidate,
    checks: subject.checks,
    image: options.image ?? null,
    budgetMs: effect.task.planned.task.time_budget_s * 1000,
  };
  const [checks = [], before = null] = await together(
    subject.withBase ? [request, { ...request, purpose: "base", candidate: null }] : [request],
    ports.room,
    signal,
  );
  // director/D5: a failure is tried again on the same tree, to tell a flaky check from a broken change.
  const failure = firstFailure(checks);
  const settled = failure === undefined || failure.timedOut; // A timeout counts at once.
  const again = settled ? null : await ports.room.check(request, signal);
  return { checks, again, base: before };
}

/** Runs all rooms. If one breaks, stops the others, waits for them and throws the first error. */
async function together(
  requests: readonly RoomRequest[],
  room: CleanRoomPort,
  signal: AbortSignal,
): Promise<CheckOutcome[][]> {
  const broken = new AbortController();
  const stop = AbortSignal.any([signal, broken.signal]);
  const rooms = requests.map((request) => room.check(request, stop));
  try {
    return await Promise.all(rooms);
  } catch (error) {
    broken.abort();
    await Promise.allSettled(rooms);
    throw error;
  }
}

/** A DEBUG run of one task: its checks stand for the fix, so they have to fail without it. */
function provesAFix(run: RunState, effect: Verify): boolean {
  return (
    run.routed?.workflow === "DEBUG" &&
    run.tasks.length === 1 &&
    effect.task.planned.task.kind === "edit_repo"
  );
}

/**
 * The contract's commands; if it names none, the fastest obvious check of the run's base. The head is never asked,
 * because a task could then choose the check of the next one.
 */
async function checksOf(run: RunState, effect: Verify, repository: RepositoryPort): Promise<Checks> {
  const named = effect.task.planned.task.verify_profile.commands;
  if (named.length > 0) return { commands: named, discovered: false };
  const { base } = intentOf(run);
  return { commands: await repository.discoverChecks(base.repo, base.commit), discovered: true };
}

async function refused(
  run: RunState,
  effect: Verify,
  ports: VerificationPorts,
  code: string,
  message: string,
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
  const evidence = await ports.evidence.store({
    ...body,
    run: run.runId,
    task: effect.taskId,
    epoch: effect.epoch,
    again: null,
  });
  return { ...body, evidence };
}
