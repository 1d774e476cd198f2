/**
 * The next step of a run, given the effects that this Director may start now. A decision needs every record that could
 * change it. The Director reads them first (`confirm`), except in two cases: the verdict on a linear run changes nothing
 * outside the journal and holds for the proposal it names; and a single effect that is only a record is left to the
 * server, which stores it only if the run has no record that this Director does not know (`ifUnmoved`).
 */
import type { Effect } from "@antiphon/run";
import { isChain, isGapless, type CachedRun } from "../runs/cached-run.ts";

export type Step =
  /** Nothing to start; the run waits for a record or a timer. */
  | { readonly kind: "wait" }
  | { readonly kind: "confirm" }
  | { readonly kind: "run"; readonly effects: readonly Effect[]; readonly ifUnmoved: boolean };

/** How the run is known: as delivered, as delivered but known to have moved once, or as just read. */
export type Knowledge = "delivered" | "moved" | "confirmed";

export function nextStep(run: CachedRun, effects: readonly Effect[], knowledge: Knowledge): Step {
  if (effects.length === 0) return { kind: "wait" };
  if (knowledge === "confirmed") return { kind: "run", effects, ifUnmoved: false };
  const chain = isChain(run.snapshot.context);
  const single = effects.length === 1 && effects.every(isRecordOnly);
  const ifUnmoved = knowledge === "delivered" && chain && single && isGapless(run);
  const decides = effects.some(({ kind }) => kind !== "verify" || !chain);
  return !ifUnmoved && decides ? { kind: "confirm" } : { kind: "run", effects, ifUnmoved }; // director/D3
}

/** Whether the record is the whole effect. A closing that buries dead letters does more. */
function isRecordOnly(effect: Effect): boolean {
  return effect.kind === "dispatch" || (effect.kind === "close" && effect.poisoned.length === 0);
}
