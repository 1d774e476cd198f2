/** Runs whose verified change waits for an approval: the test writes what Router, Associate and Director would. */
import type { NewRecord, ResultBody, VerdictBody } from "@antiphon/contracts";
import {
  claimRecord,
  dispatchRecord,
  reportedBody,
  resultRecord,
  routedRecord,
  verdictRecord,
} from "@antiphon/contracts/testing/records";
import type { World } from "./gateway-world.ts";

/** Brings a new run to its decision about a change of `path`; returns the digest of the verdict that waits. `asked`: by a gate. */
export async function untilDecision(
  world: World,
  runId: string,
  path: string,
  asked?: VerdictBody["approval"],
): Promise<string> {
  const reported = reportedBody("T-001", { status: "ok", key: `${runId}.T-001.1` });
  if (reported.kind !== "reported") throw new Error("not a report");
  const body: ResultBody = { ...reported, result: { ...reported.result, files_changed: [path] } };
  const verdict = verdictRecord(runId, "T-001", 1);
  if (verdict.type !== "verdict") throw new Error("not a verdict");
  const records: NewRecord[] = [
    routedRecord(runId),
    dispatchRecord(runId, "T-001", 1),
    claimRecord(runId, "T-001", 1, "as_1"),
    resultRecord(runId, "T-001", 1, body),
    asked === undefined ? verdict : { ...verdict, body: { ...verdict.body, approval: asked } },
  ];
  for (const record of records) await world.journal.append(record);
  const stored = await world.journal.find("verdict", runId, "T-001", 1);
  if (stored === null) throw new Error(`${runId} has no verdict`);
  return stored.digest;
}
