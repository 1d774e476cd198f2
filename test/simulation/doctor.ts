/** In every simulated world the doctor finds no fault in the records as stored, bytes and headers included. */
import { parseJournalSubject, rawRecord, type RawRecord, type StoredBytes } from "@antiphon/contracts";
import { proveRun } from "@antiphon/run";

// The simulated Directors do not sign for real: another suite tests signatures.
const TRUST = { doubt: () => null, partitions: 1 };
const WHOLE = { unreadable: [], archiveProblem: null, view: null };

export function doctorFindings(messages: readonly StoredBytes[]): string[] {
  const runs = new Map<string, RawRecord[]>();
  for (const message of messages) {
    const runId = parseJournalSubject(message.subject)?.runId ?? "";
    const own = runs.get(runId) ?? [];
    runs.set(runId, own);
    own.push(rawRecord(message));
  }
  return [...runs].flatMap(([runId, records]) => {
    const { faults } = proveRun({ ...WHOLE, runId, records }, TRUST);
    return faults.map(({ kind, subject, expected, found }) => `X1 ${kind} ${subject}: ${found}; ${expected}`);
  });
}
