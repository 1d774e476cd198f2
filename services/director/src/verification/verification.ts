/**
 * The Director's own proof: policy, patch on the run's head, clean room, verdict, commit object.
 *
 * Invariants:
 *   V1 The inputs are the head, the patch and the contract's commands; the Associate's word is not one.
 *   L3 The tree that is checked is the tree of the commit that will land.
 *   V13 What the checks are is decided once, by the commit the run started from.
 *   V7 Clean rooms of one trial end together: when one breaks, the other is stopped and waited for. Nothing is left behind
 *      that a cancel of the run does not reach, and that a next try would have beside it.
 */
import type { CheckOutcome, VerdictBody } from "@antiphon/contracts";
import { commitMessage } from "./commit-message.ts";
import { firstFailure, judge } from "./judge.ts";
import type { Unproven } from "@antiphon/git";
import type { Effect, RunState } from "@antiphon/run";
import type { Candidate, CleanRoomPort, RepositoryPort, RoomRequest, VerdictEvidencePort } from "../ports.ts";
import { intentOf } from "@antiphon/run";

type Verify = Extract<Effect, { kind: "verify" }>;
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
  const head = run.head;
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
  const withBase = unproven.length > 0 || provesAFix(run, effect); // V2
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
  // V4: a failure is tried once more on the same tree, so that a flaky check is told from a broken change.
  const failure = firstFailure(checks);
  const settled = failure === undefined || failure.timedOut; // What ran out of time had its chance.
  const again = settled ? null : await ports.room.check(request, signal);
  return { checks, again, base: before };
}

/** V7: throws what broke first, when all have ended. */
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

/** V2 asks for fail-to-pass where one check stands for the fix: a DEBUG run of one task. */
function provesAFix(run: RunState, effect: Verify): boolean {
  return (
    run.routed?.workflow === "DEBUG" &&
    run.tasks.length === 1 &&
    effect.task.planned.task.kind === "edit_repo"
  );
}

/**
 * The contract's commands; where it names none, the fastest obvious one of the run's base (seed 000). Never of the head: a
 * task would choose the check of the next one (V13).
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
