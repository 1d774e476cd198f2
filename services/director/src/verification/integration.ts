/**
 * Verifies a finished run for the branch the caller asked for. If that branch still stands on the run's base, the run's
 * commits land as they are; if it moved, they are replayed on its new tip and verified again, and skills that judge them judge
 * them again.
 */
import type { VerdictBody } from "@antiphon/contracts";
import { allowsUnverified, intentOf, type EffectOf, type RunState } from "@antiphon/run";
import { targetRef } from "../landing/landing.ts";
import { integrationTrials } from "./integration-trials.ts";
import { judge } from "./judge.ts";
import { replayedChanges } from "./replayed-changes.ts";
import { strayed } from "./strayed.ts";
import type { Trial } from "./trial.ts";
import { deciding, firstFailure } from "./trials.ts";
import type { VerificationPorts } from "./verification.ts";

/** Each commit was held to its own demand of proof already; here, only the result on the moved branch counts. */
const CHECKS_ALONE: Omit<Trial, "change" | "allowUnverified"> = {
  base: null,
  hollow: null,
  emptied: null,
  judges: [],
  withoutJudges: null,
  own: null,
  unreported: [],
  aware: [],
  tampering: [],
  sources: [],
  removes: false,
  unproven: [],
  demand: {
    workflow: "nothing",
    caller: "nothing",
    policy: "nothing",
    ownTests: false,
    sources: false,
    allowUnproven: true,
    byPeople: false,
  },
  readOnly: false,
  delivered: null,
  undecided: [],
};

export async function verifyIntegration(
  run: RunState,
  { epoch }: EffectOf<"verify-integration">,
  ports: VerificationPorts,
  signal: AbortSignal,
): Promise<VerdictBody> {
  const { base } = intentOf(run);
  const ref = targetRef(run);
  const plain = { code: null, checks: [], baseChecks: [], evidence: null };
  const tip = await ports.repository.tip(base.repo, ref);
  if (tip === null || tip === base.commit) {
    const state = tip === null ? "is new" : "still stands on the run's base";
    const message = `${ref} ${state}; every commit of the run is verified as it is`;
    return { ...plain, verdict: "PASS", message, head: base.commit, commit: run.head, tree: null };
  }
  const replay = await ports.repository.replayOnto(base.repo, base.commit, run.head, tip);
  const conflict = (message: string): VerdictBody => ({
    ...{ ...plain, verdict: "FAIL", code: "ANT_LANDING_CONFLICT", message, head: tip },
    ...{ commit: null, tree: null },
  });
  if (replay.kind === "conflict") return conflict(replay.message);
  const stray = await strayed(run, replay.commits, ports.repository);
  if (stray !== null) return conflict(`the change does not fit the moved ${ref}: ${stray}`);
  const tried = await integrationTrials(run, replay.commit, epoch, ports, signal);
  const judgement = judge({ ...CHECKS_ALONE, change: tried, allowUnverified: allowsUnverified(run) });
  const commit = judgement.verdict === "PASS" ? replay.commit : null;
  const outcomes = deciding(tried);
  const body = { ...judgement, checks: [...outcomes], baseChecks: [], head: tip, commit, tree: replay.tree };
  const trials = { change: tried, base: [], hollow: [], withoutJudges: [], own: [] };
  const again = commit === null ? null : await replayedChanges(run, replay.commits, ports.repository);
  const evidence = await ports.evidence.store({ ...body, run: run.runId, task: null, epoch, trials });
  const failure = firstFailure(outcomes);
  const message = failure === undefined ? body.message : `on the moved ${ref}: ${body.message}`;
  return { ...body, ...(again === null ? {} : { replayed: again }), message, evidence };
}
