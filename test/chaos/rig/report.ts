/** A campaign as text: the faults, the results of the work, and the verdict. */
import { INVARIANTS, tally } from "../checker/check.ts";
import type { CampaignResult } from "./campaign.ts";

const SHOWN = 10;

export function reportLines(result: CampaignResult): string[] {
  const { judgement, injected, ends } = result;
  const counts = tally(judgement.violations);
  const faults = [...injected.counts].map(([kind, count]) => `${count} ${kind}`);
  return [
    "",
    `seed ${result.seed}: ${result.runs} runs, ${result.tasks} tasks, ${judgement.records} records in ${(result.totalMs / 1000).toFixed(0)} s`,
    `faults: ${faults.join(", ") || "none"}; ${result.duplicates} duplicate deliveries; ${result.deaths} processes died`,
    ...(injected.missedPoints.length > 0
      ? [`points never reached: ${injected.missedPoints.join("; ")}`]
      : []),
    `ends: ${[...ends].map(([end, count]) => `${count} ${end}`).join(", ")}; the last ${(result.settledMs / 1000).toFixed(1)} s after heal`,
    `containers: ${containersOf(result)}`,
    `peaks: ${result.peaks.join(", ")}`,
    ...(result.undrained.length > 0 ? [`not drained in order: ${result.undrained.join("; ")}`] : []),
    "",
    ...INVARIANTS.map(({ id, title }) => {
      const count = counts.get(id) ?? 0;
      if (result.judgedBy?.includes(id) === false) return `${id.padEnd(4)} not judged  ${title}`;
      return `${id.padEnd(4)} ${count === 0 ? "ok" : `${count} VIOLATED`.padEnd(12)}  ${title}`;
    }),
    ...judgement.violations.slice(0, SHOWN).map(({ invariant, rule, runId, what, seqs }) => {
      const where = `${runId ?? "-"} seq ${seqs.join(",") || "-"}`;
      return `  ${invariant} ${rule} (${where}): ${what}`;
    }),
    judgement.violations.length === 0
      ? "verdict: 0 violations"
      : `verdict: ${judgement.violations.length} violations`,
  ];
}

/** The number of containers by purpose; without any, a history decides nothing about I8. */
function containersOf({ history }: CampaignResult): string {
  const purposes = new Map<string, Set<string>>();
  for (const { id, job } of history.containers) {
    const purpose = job?.purpose ?? "warm";
    purposes.set(purpose, (purposes.get(purpose) ?? new Set()).add(id));
  }
  return [...purposes].map(([purpose, ids]) => `${ids.size} ${purpose}`).join(", ") || "none";
}
