/** The changes in a job's sandbox: which of them are let out, and how they stand while a command waits for an answer. */
import { boundsOf, type WorkspacePlan } from "../workspace/workspace.ts";
import type { CollectBounds } from "../workspace/collected.ts";
import type { AskingParts } from "./asking.ts";
import type { Lease } from "./job-ports.ts";
import type { Job, Prepared } from "./leased-job.ts";

/** Longer lists would not fit a message. A path may have 1 KiB. */
const DELETIONS_BYTES = 256 * 1024;

/** The changes while a command waits; null: they cannot be read, or no rule lets them out. */
export async function treeNow(
  { ports }: Job,
  { workspace, environment }: Prepared,
  { sandbox }: Lease,
): ReturnType<NonNullable<AskingParts["tree"]>> {
  try {
    const collected = await sandbox.peek?.(workspace.baseline, changeBounds(workspace, environment));
    if (collected === undefined) return null;
    const listed = collected.deletions.reduce((sum, path) => sum + 4 + Buffer.byteLength(path), 0);
    if (listed > DELETIONS_BYTES) throw new Error("the list of removed files does not fit a message");
    const { overlay, deletions } = await ports.evidence.changes(collected);
    return { overlay, deletions };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    ports.progress(`the files at the question are not kept: ${why}`);
    return null;
  }
}

export function changeBounds(workspace: WorkspacePlan, environment: Prepared["environment"]): CollectBounds {
  const leftOut = environment === null ? {} : { leftOut: environment.layer.workspacePaths };
  return { ...boundsOf(workspace), ...leftOut };
}
