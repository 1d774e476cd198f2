/**
 * The checker: reads a history and decides each invariant. It is an independent oracle on purpose: it judges the product by
 * rules of its own. It is pure, so the same history always gets the same verdict.
 *
 *   const { violations } = check(history);   // [] : nothing lost, nothing twice
 */
import { counterexample, type Counterexample } from "./counterexample.ts";
import type { History } from "./history.ts";
import type { Invariant, InvariantId, Violation } from "./invariant.ts";
import { I1 } from "./i1-ending.ts";
import { I2 } from "./i2-origin.ts";
import { I3 } from "./i3-landing.ts";
import { I4 } from "./i4-finality.ts";
import { I5 } from "./i5-legality.ts";
import { I6 } from "./i6-evidence.ts";
import { I7 } from "./i7-fencing.ts";
import { I8 } from "./i8-containers.ts";
import { I11 } from "./i11-bounds.ts";
import { I12 } from "./i12-cancel.ts";
import { runsOf } from "./run-facts.ts";

export const INVARIANTS: readonly Invariant[] = [I1, I2, I3, I4, I5, I6, I7, I8, I11, I12];

/** The number of violations of each rule that get a counterexample; the rest are only counted. */
const SHRUNK_PER_RULE = 3;

export type Finding = Violation & { readonly counterexample: Counterexample | null };

export interface Judgement {
  readonly violations: readonly Finding[];
  readonly runs: number;
  readonly records: number;
}

export interface CheckOptions {
  /** Find counterexamples. Default true. */
  readonly shrink?: boolean;
  /** Only these; absent: all of them. */
  readonly only?: readonly InvariantId[];
}

export function check(history: History, options: CheckOptions = {}): Judgement {
  const runs = runsOf(history);
  const shrunk = new Map<string, number>();
  const chosen = INVARIANTS.filter(({ id }) => options.only?.includes(id) !== false);
  const violations = chosen.flatMap((invariant) => {
    const found = [
      ...[...runs.values()].flatMap((run) => invariant.ofRun?.(run, history) ?? []),
      ...(invariant.ofHistory?.(history, runs) ?? []),
    ];
    return found.map((one): Finding => {
      const rule = `${one.invariant} ${one.rule}`;
      const count = shrunk.get(rule) ?? 0;
      shrunk.set(rule, count + 1);
      const worth = options.shrink !== false && count < SHRUNK_PER_RULE;
      return { ...one, counterexample: worth ? counterexample(history, one, invariant) : null };
    });
  });
  return { violations, runs: runs.size, records: history.records.length };
}

/** Violations by invariant, for a table. */
export function tally(violations: readonly Violation[]): ReadonlyMap<InvariantId, number> {
  const counts = new Map<InvariantId, number>(INVARIANTS.map(({ id }) => [id, 0]));
  for (const { invariant } of violations) counts.set(invariant, (counts.get(invariant) ?? 0) + 1);
  return counts;
}
