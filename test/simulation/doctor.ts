/** X1: what the services wrote is whole in the doctor's eyes too, in every simulated world: bytes, headers and all. */
import {
  HEADERS,
  parseJournalSubject,
  rawRecord,
  type RawRecord,
  type StoredBytes,
} from "@antiphon/contracts";
import { proveRun } from "@antiphon/contracts/proof/run-proof";

const TRUST = { keys: new Map(), signedOnly: false, partitions: 1 };
const WHOLE = { unreadable: [], archiveProblem: null, view: null };

export function doctorFindings(messages: readonly StoredBytes[]): string[] {
  const runs = new Map<string, RawRecord[]>();
  for (const message of messages) {
    const runId = parseJournalSubject(message.subject)?.runId ?? "";
    const own = runs.get(runId) ?? [];
    runs.set(runId, own);
    // The simulated Directors have keys of their own, which nobody published.
    const header = (name: string): string => (name === HEADERS.signature ? "" : message.header(name));
    own.push(rawRecord({ ...message, header }));
  }
  return [...runs].flatMap(([runId, records]) => {
    const { faults } = proveRun({ ...WHOLE, runId, records }, TRUST);
    return faults.map(({ kind, subject, expected, found }) => `X1 ${kind} ${subject}: ${found}; ${expected}`);
  });
}
