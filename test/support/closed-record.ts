/** The `closed` record of a run, for tests without a Director. */
import { readFileSync } from "node:fs";
import type { ClosedBody, NewRecord } from "@antiphon/contracts";

export function closedRecord(runId: string): NewRecord {
  const file = new URL("../../contracts/fixtures/journal.closed.v1.json", import.meta.url);
  const { valid } = JSON.parse(readFileSync(file, "utf8")) as { valid: Record<string, { body: ClosedBody }> };
  const [golden] = Object.values(valid);
  if (golden === undefined) throw new Error("no golden closed record");
  const end = { status: "failed", code: "ANT_VERIFY_CHECK_FAILED", message: "the check failed" } as const;
  const cause = { seq: 1, digest: golden.body.seal };
  return { type: "closed", runId, taskId: null, epoch: 0, cause, body: { ...golden.body, ...end } };
}
