// Rebuilds the views and contracts of checked runs from the journal, one run at a time.
//
// A damaged run is skipped and named, unless only records are missing, landings among them: the Director can find a
// landing again. A failure of one run does not stop the others; a missing gateway or Director stops everything.
import type { RebuiltRun } from "@antiphon/contracts";
import type { JournalFault } from "@antiphon/run/audit/journal-fault";
import { Failure } from "../failure.ts";
import type { GatewayClient } from "../gateway/gateway-client.ts";
import type { CheckedJournal } from "./journal-check.ts";

export interface RebuildReport {
  readonly runs: number;
  /** Runs for which a document was written or a record put back. */
  readonly rebuilt: readonly RebuiltRun[];
  readonly left: readonly { readonly runId: string; readonly code: string; readonly message: string }[];
  readonly written: number;
  readonly restored: number;
}

type Target = Pick<GatewayClient, "post">;

/** Runs rebuilt at the same time. */
const AT_ONCE = 8;
/** No further run can succeed after one of these. */
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
      left.push({ runId, code, message: `damaged: ${kind} ${subject ?? "register unknown"}` });
      return;
    }
    try {
      rebuilt.push(await gateway.post("/runs/{id}/rebuild", { id: runId }, undefined));
    } catch (error) {
      const { code, message } = Failure.from(error);
      if (NOBODY.has(code)) throw error;
      left.push({ runId, code, message });
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

/** The only damage is missing records, landings among them. */
function mayBeFound(faults: readonly JournalFault[]): boolean {
  return (
    faults.every(({ kind }) => kind === "missing") &&
    faults.some(({ subject }) => subject?.split(".")[4] === "landing")
  );
}
