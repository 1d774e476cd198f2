/** The order of proofs: nothing, regression, fail-to-pass. Pure. */
import type { Proves } from "@antiphon/contracts";

const WEAKEST_FIRST: readonly Proves[] = ["nothing", "regression", "fail-to-pass"];

export function isWeaker(one: Proves, other: Proves): boolean {
  return WEAKEST_FIRST.indexOf(one) < WEAKEST_FIRST.indexOf(other);
}

/** The stronger of two proofs. */
export function stronger(one: Proves, other: Proves): Proves {
  return isWeaker(one, other) ? other : one;
}
