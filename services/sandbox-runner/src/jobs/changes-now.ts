/** The changes in a job's sandbox while a command waits for the answer to its question. */
import type { Sandbox } from "../ports.ts";
import { boundsOf } from "../workspace/workspace.ts";
import type { AskingParts } from "./asking.ts";
import type { PreparedJob } from "./leased-job.ts";

/** Longer lists would not fit a message. */
const MOST_DELETIONS = 2000;

/** Null: they cannot be read, or no rule lets them out. */
export async function treeNow(
  { ports, workspace, layer }: PreparedJob,
  sandbox: Sandbox,
): ReturnType<NonNullable<AskingParts["tree"]>> {
  try {
    const collected = await sandbox.peek?.(workspace.baseline, boundsOf(workspace, layer));
    if (collected === undefined || collected.deletions.length > MOST_DELETIONS) return null;
    const { overlay, deletions } = await ports.evidence.changes(collected);
    return { overlay, deletions };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    ports.progress(`the files at the question are not kept: ${why}`);
    return null;
  }
}
