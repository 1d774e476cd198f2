/** X1: what the services wrote is whole in the doctor's eyes too, in every simulated world. */
import type { StoredRecord } from "@antiphon/contracts";
import { proveRun } from "@antiphon/contracts/proof/run-proof";
import { materialOf } from "../support/journal-material.ts";

const TRUST = { keys: new Map(), signedOnly: false, partitions: 1 };

export function doctorFindings(records: readonly StoredRecord[]): string[] {
  const runs = new Map<string, StoredRecord[]>();
  for (const record of records) runs.set(record.runId, [...(runs.get(record.runId) ?? []), record]);
  return [...runs].flatMap(([runId, own]) => {
    // The simulated Directors have keys of their own, which nobody published.
    const unsigned = own.map(({ signature: _, ...record }) => record as StoredRecord);
    const { faults } = proveRun(materialOf(runId, unsigned), TRUST);
    return faults.map(({ kind, subject, expected, found }) => `X1 ${kind} ${subject}: ${found}; ${expected}`);
  });
}
