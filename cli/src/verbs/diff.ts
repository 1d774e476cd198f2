// antiphon diff <runId>: the change that a run proposes, as its evidence has it.
import { examples, runId } from "../context.ts";
import type { AddVerb, CliContext } from "../context.ts";
import type { Bundle } from "../evidence/evidence-view.ts";
import { Failure } from "../failure.ts";

const PATCH = "diff.patch";

export const addDiff: AddVerb = (program, context) => {
  program
    .command("diff")
    .summary("print the change of a run: of each task, the patch of its last attempt")
    .argument("<runId>", "the id of the run", runId)
    .argument("[task]", "only this task, such as T-001")
    .option("--json", "print one JSON object")
    .addHelpText(
      "after",
      examples([
        "antiphon diff run_4f0c2k9s0x7d2m1q8z3a",
        "antiphon diff run_4f0c2k9s0x7d2m1q8z3a | git apply --stat",
      ]),
    )
    .action(async (id: string, task: string | undefined, options: { json?: boolean }) => {
      const patches = await patchesOf(context, id, task ?? null);
      if (options.json === true) return context.screen.json({ runId: id, patches });
      for (const { patch } of patches) process.stdout.write(patch);
    });
};

async function patchesOf(
  context: CliContext,
  id: string,
  task: string | null,
): Promise<{ task: string; epoch: number; patch: string }[]> {
  const { filePath } = await import("../evidence/evidence-view.ts");
  const gateway = await context.gateway();
  const { bundles } = await gateway.get<{ bundles: Bundle[] }>(`/runs/${id}/evidence`);
  const last = new Map<string, Bundle>();
  for (const bundle of bundles) {
    if (bundle.kind !== "attempt" || !bundle.manifest.files.some(({ path }) => path === PATCH)) continue;
    if (task !== null && bundle.taskId.toLowerCase() !== task.toLowerCase()) continue;
    if ((last.get(bundle.taskId)?.epoch ?? 0) < bundle.epoch) last.set(bundle.taskId, bundle);
  }
  if (last.size === 0)
    throw new Failure(
      "ANT_EVIDENCE_NOT_FOUND",
      `${id} has no change${task === null ? "" : ` of ${task}`} yet`,
    );
  return Promise.all(
    [...last.values()].map(async ({ taskId, epoch }) => ({
      task: taskId,
      epoch,
      patch: (await gateway.bytes(filePath(id, taskId, epoch, PATCH, false))).toString("utf8"),
    })),
  );
}
