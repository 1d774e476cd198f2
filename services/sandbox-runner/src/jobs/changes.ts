/** The changes of a job: collected by its stage, saved after a command that did not complete, and read while one waits. */
import type { Sandbox } from "../ports.ts";
import type { AskingParts } from "./asking.ts";
import type { LeasedJob } from "./leased-job.ts";
import type { PreparedJob } from "./prepared-job.ts";

/** Longer lists would not fit a message. A path may have 1 KiB. */
const DELETIONS_BYTES = 256 * 1024;

export async function collect({ ports, progress, workspace, lease }: LeasedJob): Promise<void> {
  const collected = await lease.sandbox.collect(workspace.baseline, workspace.bounds);
  progress.changes = await ports.evidence.changes(collected);
}

/** The ending stays that of the command; if the changes cannot be read, it says so. */
export async function saveChanges(job: LeasedJob): Promise<void> {
  const { progress } = job;
  try {
    await collect(job);
  } catch (error) {
    const { ending } = progress;
    const why = error instanceof Error ? error.message : String(error);
    progress.ending = { ...ending, message: `${ending.message}; its changes could not be read: ${why}` };
  }
}

/** The changes while a command waits; null: they cannot be read, or no rule lets them out. */
export async function treeNow(
  { ports, workspace }: PreparedJob,
  sandbox: Sandbox,
): ReturnType<NonNullable<AskingParts["tree"]>> {
  try {
    const collected = await sandbox.peek?.(workspace.baseline, workspace.bounds);
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
