/** Carries out an effect and returns the record that says it happened. It appends nothing. */
import {
  AntiphonError,
  type Cause,
  type DispatchBody,
  type LandingBody,
  type NewRecord,
  type VerdictBody,
} from "@antiphon/contracts";
import { closingOf, runBranch, intentOf } from "@antiphon/run";
import { fitClosing, fitDispatch, fitVerdict } from "./fitting.ts";
import type { Effect, RunState } from "@antiphon/run";
import { dispatchEnvironment, UndispatchedSetup } from "../environments/dispatch-environment.ts";
import { landIntegration, verifyIntegration } from "../landing/integration.ts";
import type { PoisonLettersPort } from "../ports.ts";
import { verify, type VerificationPorts } from "../verification/verification.ts";

/** Rejections that a dispatch carries as feedback; older ones stay in the journal. */
const MAX_FEEDBACK = 5;

/** Characters of an error that a refusal quotes, so that every refusal fits its record. */
const MAX_DETAIL = 2048;

export type EffectRunnerPorts = VerificationPorts & { letters: PoisonLettersPort };

export class EffectRunner {
  readonly #ports: EffectRunnerPorts;

  constructor(ports: EffectRunnerPorts) {
    this.#ports = ports;
  }

  async perform(run: RunState, effect: Effect, cause: Cause, signal: AbortSignal): Promise<NewRecord> {
    const at = {
      runId: run.runId,
      taskId: "taskId" in effect ? effect.taskId : null,
      epoch: "epoch" in effect ? effect.epoch : 0,
      cause,
    };
    switch (effect.kind) {
      case "dispatch":
        return { type: "dispatch", ...at, body: fitDispatch(await this.#dispatch(run, effect, signal)) };
      case "verify":
        return { type: "verdict", ...at, body: fitVerdict(await verify(run, effect, this.#ports, signal)) };
      case "land":
        return { type: "landing", ...at, body: await this.#land(run, effect) };
      case "verify-integration":
        return {
          type: "verdict",
          ...at,
          body: fitVerdict(await verifyIntegration(run, effect.epoch, this.#ports, signal)),
        };
      case "land-integration":
        return {
          type: "landing",
          ...at,
          body: await landIntegration(run, effect.integration, this.#ports.repository),
        };
      case "close":
        for (const task of effect.poisoned) await this.#ports.letters.bury(run.runId, task);
        return { type: "closed", ...at, body: fitClosing(closingOf(run)) };
    }
  }

  /** The record that ends an effect which no retry can complete; null when a retry may. */
  refusal(run: RunState, effect: Effect, cause: Cause, error: unknown): NewRecord | null {
    if (!(error instanceof AntiphonError) || error.disposition === "retry") return null;
    const { code } = error;
    const message = error.detail.slice(0, MAX_DETAIL);
    const at = { runId: run.runId, cause };
    switch (effect.kind) {
      case "dispatch":
      case "verify":
        return {
          type: "verdict",
          ...at,
          taskId: effect.taskId,
          epoch: effect.epoch,
          body: {
            ...unverifiable(run, code, message),
            evidence: error instanceof UndispatchedSetup ? error.evidence : null,
          },
        };
      case "verify-integration":
        return {
          type: "verdict",
          ...at,
          taskId: null,
          epoch: effect.epoch,
          body: unverifiable(run, code, message),
        };
      case "land":
        return {
          type: "landing",
          ...at,
          taskId: effect.taskId,
          epoch: effect.epoch,
          body: { kind: "refused", code, message },
        };
      case "land-integration":
        return {
          type: "landing",
          ...at,
          taskId: null,
          epoch: effect.epoch,
          body: { kind: "refused", code, message },
        };
      case "close":
        return null;
    }
  }

  async #dispatch(
    run: RunState,
    effect: Extract<Effect, { kind: "dispatch" }>,
    signal: AbortSignal,
  ): Promise<DispatchBody> {
    const { options, base, intent } = intentOf(run);
    if (run.routed === null)
      throw new AntiphonError("ANT_JOURNAL_GAP", `run ${run.runId} has no routed record`);
    const { planned, feedback, answers } = effect.task;
    const { verify_profile } = planned.task;
    const commands =
      verify_profile.commands.length > 0
        ? verify_profile.commands
        : await this.#ports.repository.discoverChecks(base.repo, base.commit);
    const tree = await this.#ports.repository.exportBase(base.repo, run.head);
    const { environments, evidence } = this.#ports;
    const environment =
      environments === undefined
        ? null
        : await dispatchEnvironment(run, effect, tree, { environments, evidence }, signal);
    return {
      task: { ...planned.task, base_ref: run.head, verify_profile: { ...verify_profile, commands } },
      agent: planned.agent,
      intent: { goal: intent.goal },
      workflow: run.routed.workflow,
      base: tree,
      feedback: feedback.slice(-MAX_FEEDBACK),
      answers: [...answers],
      image: options.image ?? null,
      scope: options.scope,
      grants: options.grants,
      ...(environment === null ? {} : { environment }),
      ...(options.model_budget === undefined ? {} : { model_budget: options.model_budget }),
    };
  }

  async #land(run: RunState, effect: Extract<Effect, { kind: "land" }>): Promise<LandingBody> {
    const { repository } = this.#ports;
    const { base } = intentOf(run);
    const verdict: VerdictBody = effect.phase.verdict;
    if (verdict.commit === null)
      throw new AntiphonError("ANT_JOURNAL_GAP", "an accepted verdict without a commit");
    const previous = run.head === base.commit ? null : run.head;
    return repository.land(base.repo, runBranch(run.runId), verdict.commit, previous);
  }
}

function unverifiable(run: RunState, code: string, message: string): VerdictBody {
  return {
    verdict: "UNVERIFIABLE",
    code,
    message,
    checks: [],
    baseChecks: [],
    head: run.head,
    commit: null,
    tree: null,
    evidence: null,
  };
}
