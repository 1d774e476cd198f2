// The change of each task of a run: the patch of the last attempt that left one, whether or not it was accepted.
import { splitDiff } from "@antiphon/contracts/documents/unified-diff";
import type { Patch } from "@antiphon/contracts";
import { Failure } from "../failure.ts";
import { nothingOf } from "./nothing-found.ts";
import type { GatewayClient } from "../gateway/gateway-client.ts";
import { filePath, type Bundle } from "./evidence-view.ts";

const PATCH = "diff.patch";

export interface RunPatch {
  readonly task: string;
  readonly epoch: number;
  readonly patch: string;
}

export async function patchesOf(
  gateway: GatewayClient,
  id: string,
  task: string | null,
): Promise<RunPatch[]> {
  const { bundles } = await gateway.get("/runs/{id}/evidence", { id });
  const last = new Map<string, Bundle>();
  for (const bundle of bundles) {
    if (bundle.kind !== "attempt" || !bundle.manifest.files.some(({ path }) => path === PATCH)) continue;
    if (task !== null && bundle.taskId.toLowerCase() !== task.toLowerCase()) continue;
    if ((last.get(bundle.taskId)?.epoch ?? 0) < bundle.epoch) last.set(bundle.taskId, bundle);
  }
  if (last.size === 0) throw await nothingOf(gateway, id, task, "change");
  return Promise.all(
    [...last.values()].map(async ({ taskId, epoch }) => ({
      task: taskId,
      epoch,
      patch: (await gateway.bytes(filePath(id, taskId, epoch, PATCH, false))).toString("utf8"),
    })),
  );
}

/** The patch of a run with one changed task, to go on from. */
export async function onlyPatchOf(gateway: GatewayClient, runId: string): Promise<Patch> {
  const [first, ...others] = await patchesOf(gateway, runId, null);
  if (first !== undefined && others.length === 0) return { files: splitDiff(first.patch) };
  const named = [first, ...others].flatMap((one) => one?.task ?? []).join(", ");
  throw new Failure("ANT_USAGE", `${runId} has changes of several tasks: ${named}`, {
    remedy: `Choose one: antiphon diff ${runId} ${others[0]?.task ?? ""} > fix.diff, then --patch fix.diff.`,
    exitCode: 2,
  });
}
