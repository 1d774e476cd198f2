/**
 * Runs the legs of a campaign one after the other. It keeps the facts of each that the report needs, and drops its history.
 *
 * The verdicts are written to disk after each leg, so ending the rig loses at most the current leg. A leg starts only if it
 * can end in time, judged by the longest leg so far; the report says how many are left.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { INVARIANTS, tally } from "../checker/check.ts";
import type { InvariantId } from "../checker/invariant.ts";
import type { CampaignResult } from "./campaign.ts";
import type { FaultKind } from "./fault-script.ts";
import type { Leg } from "./full-plan.ts";

export interface LegVerdict {
  readonly seed: number;
  readonly servers: number;
  readonly runs: number;
  readonly tasks: number;
  readonly records: number;
  readonly faults: Readonly<Partial<Record<FaultKind, number>>>;
  readonly missedPoints: readonly string[];
  readonly duplicates: number;
  readonly violations: Readonly<Partial<Record<InvariantId, number>>>;
  readonly undrained: readonly string[];
  readonly settledMs: number;
  readonly totalMs: number;
}

export interface LegsOptions {
  readonly run: (leg: Leg) => Promise<CampaignResult>;
  /** Called after each leg. */
  readonly told: (result: CampaignResult) => void;
  readonly stop: AbortSignal;
  readonly untilMs: number;
  /** The file for the verdicts. */
  readonly file: string;
}

export async function runLegs(legs: readonly Leg[], options: LegsOptions): Promise<LegVerdict[]> {
  const verdicts: LegVerdict[] = [];
  for (const leg of legs) {
    const longestMs = Math.max(0, ...verdicts.map(({ totalMs }) => totalMs));
    if (options.stop.aborted || Date.now() + longestMs > options.untilMs) break;
    const result = await options.run(leg);
    options.told(result);
    verdicts.push(verdictOf(leg, result));
    mkdirSync(join(options.file, ".."), { recursive: true });
    writeFileSync(options.file, `${JSON.stringify({ legs: legs.length, verdicts }, null, 1)}\n`);
  }
  return verdicts;
}

function verdictOf({ seed, servers }: Leg, result: CampaignResult): LegVerdict {
  const { injected, judgement, runs, tasks, duplicates, undrained, settledMs, totalMs } = result;
  return {
    ...{ seed, servers, runs, tasks, records: judgement.records, duplicates, undrained, settledMs, totalMs },
    faults: Object.fromEntries(injected.counts),
    missedPoints: injected.missedPoints,
    violations: Object.fromEntries([...tally(judgement.violations)].filter(([, count]) => count > 0)),
  };
}

export function sumLines(planned: number, verdicts: readonly LegVerdict[]): string[] {
  const total = (of: (verdict: LegVerdict) => number): number =>
    verdicts.reduce((sum, verdict) => sum + of(verdict), 0);
  const kinds = [...new Set(verdicts.flatMap(({ faults }) => Object.keys(faults) as FaultKind[]))];
  const broken = INVARIANTS.filter(({ id }) => total(({ violations }) => violations[id] ?? 0) > 0);
  const hours = total(({ totalMs }) => totalMs) / 3_600_000;
  return [
    "",
    `${verdicts.length} of ${planned} legs in ${hours.toFixed(1)} h, seeds ${verdicts.map(({ seed }) => seed).join(" ")}`,
    `${total(({ runs }) => runs)} runs, ${total(({ tasks }) => tasks)} tasks, ${total(({ records }) => records)} records`,
    `faults: ${kinds.map((kind) => `${total(({ faults }) => faults[kind] ?? 0)} ${kind}`).join(", ") || "none"}; ${total(({ duplicates }) => duplicates)} duplicate deliveries`,
    `points never reached: ${total(({ missedPoints }) => missedPoints.length)}`,
    ...broken.map(
      ({ id, title }) => `${id} ${total(({ violations }) => violations[id] ?? 0)} VIOLATED  ${title}`,
    ),
    broken.length === 0 ? "verdict: 0 violations" : "verdict: violations",
  ];
}
