// Has what people look at made again from the journal, run by run, after it was checked.
//
// Invariants:
//   R1  A run that the check found damaged is left, and named; but a landing that is missing is the Director's to find.
//   R2  What could not be done for one run does not keep the others from being done; without a gateway or a Director
//       nothing more is tried.
import type { RebuiltRun } from "@antiphon/contracts";
import type { JournalFault } from "@antiphon/run/audit/journal-fault";
import { Failure } from "../failure.ts";
import type { CheckedJournal } from "./journal-check.ts";

export interface RebuildReport {
  readonly runs: number;
  /** Those of which something was written or put back. */
  readonly rebuilt: readonly RebuiltRun[];
  readonly left: readonly { readonly runId: string; readonly code: string; readonly message: string }[];
  readonly written: number;
  readonly restored: number;
}

interface Target {
  post<T>(path: string, body: unknown): Promise<T>;
}

/** Runs rebuilt at the same time. */
const AT_ONCE = 8;
/** With these there is nobody to ask. */
const NOBODY: ReadonlySet<string> = new Set([
  "ANT_DIRECTOR_UNAVAILABLE",
  "ANT_GATEWAY_UNREACHABLE",
  "ANT_NATS_UNREACHABLE",
]);

export async function rebuildRuns(
  gateway: Target,
  { runIds, report: { faults } }: CheckedJournal,
  progress: (done: number, of: number) => void,
): Promise<RebuildReport> {
  const rebuilt: RebuiltRun[] = [];
  const left: RebuildReport["left"][number][] = [];
  const rebuildOne = async (runId: string): Promise<void> => {
    const damage = faults.filter((fault) => fault.runId === runId);
    const [first] = damage;
    if (first !== undefined && !mayBeFound(damage)) {
      const { code, kind, subject } = first;
      left.push({ runId, code, message: `damaged: ${kind} ${subject ?? "register unknown"}` }); // R1
      return;
    }
    try {
      rebuilt.push(await gateway.post<RebuiltRun>(`/runs/${runId}/rebuild`, undefined));
    } catch (error) {
      const { code, message } = Failure.from(error);
      if (NOBODY.has(code)) throw error;
      left.push({ runId, code, message }); // R2
    }
  };
  for (let from = 0; from < runIds.length; from += AT_ONCE) {
    await Promise.all(runIds.slice(from, from + AT_ONCE).map(rebuildOne));
    progress(Math.min(from + AT_ONCE, runIds.length), runIds.length);
  }
  return {
    runs: runIds.length,
    rebuilt: rebuilt.filter(
      ({ written, restored, goesOn }) => written.length + restored.length > 0 || goesOn,
    ),
    left,
    written: rebuilt.reduce((sum, { written }) => sum + written.length, 0),
    restored: rebuilt.reduce((sum, { restored }) => sum + restored.length, 0),
  };
}

/** Nothing is wrong but that records are missing, landings among them. */
function mayBeFound(faults: readonly JournalFault[]): boolean {
  return (
    faults.every(({ kind }) => kind === "missing") &&
    faults.some(({ subject }) => subject?.split(".")[4] === "landing")
  );
}
