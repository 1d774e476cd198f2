import type { DirectorKey, NewRecord, StoredRecord } from "@antiphon/contracts";
import { sealOf } from "@antiphon/contracts/stored/seal";
import type { Journal } from "../journal/journal.ts";
import {
  claimRecord,
  closedRecord,
  dispatchRecord,
  intentRecord,
  landingRecord,
  reportedBody,
  resultRecord,
  routedRecord,
  verdictRecord,
} from "@antiphon/contracts/testing/records";

/** A run of one task from intent to `closed`, each record caused by the one before it, and sealed. `reporter`: named by its claim. */
export async function finishRun(
  journal: Journal,
  runId: string,
  goal?: string,
  reporter?: DirectorKey,
): Promise<StoredRecord[]> {
  const stored = await openRun(journal, runId, goal);
  const key = `${runId}.T-001.1`;
  await say(journal, stored, claimRecord(runId, "T-001", 1, "as_one", reporter));
  await say(journal, stored, resultRecord(runId, "T-001", 1, reportedBody("T-001", { status: "ok", key })));
  await say(journal, stored, verdictRecord(runId, "T-001", 1));
  await say(journal, stored, landingRecord(runId, "T-001", 1));
  const seal = sealOf(stored.map(({ digest }) => digest));
  await say(journal, stored, closedRecord(runId, { status: "succeeded", seal }));
  return stored;
}

/** The same up to its dispatch: the run is under way. */
export async function openRun(journal: Journal, runId: string, goal?: string): Promise<StoredRecord[]> {
  const stored: StoredRecord[] = [];
  await say(journal, stored, intentRecord(runId, goal));
  await say(journal, stored, routedRecord(runId));
  await say(journal, stored, dispatchRecord(runId, "T-001", 1));
  return stored;
}

async function say(journal: Journal, stored: StoredRecord[], record: NewRecord): Promise<void> {
  const last = stored.at(-1);
  const cause = last === undefined ? null : { seq: last.seq, digest: last.digest };
  const result = await journal.append({ ...record, cause });
  if (result.kind === "conflict") throw new Error(`taken: ${result.existing.subject}`);
  stored.push(result.record);
}
