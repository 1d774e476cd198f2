/** The sources of a change that no check uses. Pure. */
import { passesEmptied } from "./emptied.ts";
import type { Trial } from "./trial.ts";
import { allPass, anyFails } from "./trials.ts";

/**
 * All sources of the change, if its checks pass without its files and no test of its own needs them. Else none: then a check
 * uses some of them, or it is not known.
 */
export function unusedSources(trial: Trial): readonly string[] {
  const { demand, sources, hollow, emptied, own, unreported, aware } = trial;
  const isKnown = unreported.length + aware.length === 0 && !passesEmptied(emptied);
  const isFree = allPass(hollow) && !anyFails(own?.onBase ?? null);
  return demand.sources && isKnown && isFree ? sources : [];
}
