/** Records as a server would hand them out, for whoever reads bytes. */
import { encode, HEADERS, rawRecord, type RunMaterial, type StoredRecord } from "@antiphon/contracts";

export function materialOf(runId: string, records: readonly StoredRecord[]): RunMaterial {
  return {
    runId,
    records: records.map(({ seq, digest, at, subject, signature, after: _, ...record }) => {
      const header = (name: string): string =>
        name === HEADERS.digest ? digest : name === HEADERS.signature ? (signature ?? "") : "";
      return rawRecord({ subject, seq, at, data: encode(record), header });
    }),
    unreadable: [],
    archiveProblem: null,
    view: null,
    next: null,
  };
}
