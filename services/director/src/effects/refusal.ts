/** The record that ends an effect which no retry can complete, or that asks a person before it can begin. */
import { AntiphonError, type Cause, type NewRecord, type VerdictBody } from "@antiphon/contracts";
import type { Effect, RunState } from "@antiphon/run";
import { MissingCriteria } from "./missing-criteria-error.ts";
import { Undispatched } from "./undispatched.ts";

/** Characters of an error that a refusal quotes, so that every refusal fits its record. */
const MAX_DETAIL = 2048;

/** Null when a retry may complete the effect. */
export function refusalOf(run: RunState, effect: Effect, cause: Cause, error: unknown): NewRecord | null {
  if (!(error instanceof AntiphonError) || error.disposition === "retry") return null;
  const { code } = error;
  const message = error.detail.slice(0, MAX_DETAIL);
  const { taskId, epoch } = effect;
  const evidence = error instanceof Undispatched ? error.evidence : null;
  const at = { runId: run.runId, taskId, epoch, cause };
  if (error instanceof MissingCriteria) {
    const body = { ...unverifiable(run, code, message), asks: error.asks };
    return { type: "verdict", ...at, taskId: error.taskId, epoch: error.epoch, body };
  }
  switch (effect.kind) {
    case "dispatch":
    case "verify":
    case "verify-integration":
      return { type: "verdict", ...at, body: { ...unverifiable(run, code, message), evidence } };
    case "land":
    case "land-integration":
      return { type: "landing", ...at, body: { kind: "refused", code, message } };
    case "close":
      return null;
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
