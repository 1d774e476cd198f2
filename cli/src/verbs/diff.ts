// antiphon diff <runId>: the change that a run proposes, as its evidence has it.
import { examples, runId } from "../context.ts";
import type { AddVerb } from "../context.ts";

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
      const { patchesOf } = await import("../evidence/run-patches.ts");
      const patches = await patchesOf(await context.gateway(), id, task ?? null);
      if (options.json === true) return context.screen.json({ runId: id, patches });
      for (const { patch } of patches) context.screen.document(patch);
    });
};
