/** Runs the world of one seed and judges it. */
import { createHash } from "node:crypto";
import { check } from "../chaos/checker/check.ts";
import { doctorFindings } from "./doctor.ts";
import type { Mishap } from "./mishap.ts";
import { primeInboxNames } from "./world/services.ts";
import { runWorld, type WorldReport } from "./world/world.ts";

export interface SeedResult {
  seed: number;
  /** Hash of everything that happened, in order. */
  hash: string;
  runs: number;
  records: number;
  steps: number;
  virtualMs: number;
  /** How often each kind of mishap happened. */
  mishaps: Partial<Record<Mishap, number>>;
  /** Violations; empty if there are none. */
  findings: string[];
}

/** Runs a seed in a macrotask of its own, as its world requires. */
export function runSeed(seed: number): Promise<SeedResult> {
  return inMacrotask(() => judged(seed, runWorld(seed)));
}

export function traceSeed(seed: number): Promise<{ result: SeedResult; report: WorldReport }> {
  return inMacrotask(() => {
    const report = runWorld(seed, { traced: true });
    return { result: judged(seed, report), report };
  });
}

/** Like `runSeed`, for many seeds. */
export function runSeeds(
  from: number,
  count: number,
  until: (result: SeedResult) => boolean,
): Promise<SeedResult[]> {
  return inMacrotask(() => {
    const results: SeedResult[] = [];
    for (let seed = from; seed < from + count; seed += 1) {
      const result = judged(seed, runWorld(seed));
      results.push(result);
      if (until(result)) break;
    }
    return results;
  });
}

function judged(seed: number, report: WorldReport): SeedResult {
  const { history, trace, accidents, virtualMs, steps } = report;
  const { violations, runs, records } = check(history, { shrink: false });
  const findings = [
    ...violations.map(({ invariant, rule, what }) => `${invariant} ${rule}: ${what}`),
    ...accidents,
    ...doctorFindings(report.messages),
  ];
  const hash = createHash("sha256").update(trace.join("\n")).digest("hex").slice(0, 16);
  const mishaps = Object.fromEntries(report.mishaps);
  return { seed, hash, runs, records, steps, virtualMs, mishaps, findings };
}

const primed = primeInboxNames();

async function inMacrotask<T>(work: () => T): Promise<T> {
  await primed;
  return new Promise((resolve, reject) => {
    setImmediate(() => {
      try {
        resolve(work());
      } catch (error) {
        reject(error instanceof Error ? error : new Error(String(error)));
      }
    });
  });
}
