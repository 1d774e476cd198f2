import { dispatchRecord, intentRecord, routedRecord } from "@antiphon/contracts/testing/records";
import { expect, test } from "vitest";
import { randomRun } from "../testing/random-run.ts";
import { factsOf, foldFacts } from "./facts-fold.ts";
import { noFacts, type ReadRecord, type RunFacts } from "./run-facts.ts";

const POLICY = { maxAttempts: 3, maxLapses: 2, maxOutages: 3, maxIntegrations: 3 };

test("the facts of many records are those of one record after the other, and no earlier facts change", () => {
  for (let seed = 1; seed <= 200; seed += 1) {
    const records = randomRun(seed, POLICY);
    const steps: RunFacts[] = [noFacts(records[0]?.runId ?? "")];
    for (const record of records) steps.push(foldFacts(steps.at(-1)!, record));
    const before = structuredClone(steps);
    expect(factsOf(records)).toEqual(steps.at(-1));
    for (let at = 1; at <= records.length; at += 1) expect(factsOf(records.slice(0, at))).toEqual(steps[at]);
    expect(steps).toEqual(before);
  }
});

test("a run of 100,000 records is folded in a time that grows with their number, not with its square", () => {
  const made = [intentRecord("run_long"), routedRecord("run_long")];
  for (let epoch = 1; made.length < 100_000; epoch += 1)
    made.push(dispatchRecord("run_long", "T-001", epoch));
  const at = new Date(0).toISOString();
  const records = made.map((record) => ({ ...record, v: 1, at, digest: "d" })) as readonly ReadRecord[];
  const began = performance.now();
  expect(factsOf(records).tasks?.[0]?.attempts).toHaveLength(99_998);
  expect(performance.now() - began).toBeLessThan(5_000); // 0.2 s on a quiet machine; with its square it is minutes.
});
