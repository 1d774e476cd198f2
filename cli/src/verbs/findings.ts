// antiphon findings <runId>: what a REVIEW run found.
import { examples, runId } from "../context.ts";
import type { AddVerb } from "../context.ts";

export const addFindings: AddVerb = (program, context) => {
  program
    .command("findings")
    .summary("print what a REVIEW run, or the reviewer of a change, found, with the quoted lines")
    .argument("<runId>", "the id of the run", runId)
    .option("--json", "print one JSON object")
    .addHelpText(
      "after",
      examples([
        "antiphon findings run_4f0c2k9s0x7d2m1q8z3a",
        "antiphon findings run_4f0c2k9s0x7d2m1q8z3a --json",
      ]),
    )
    .action(async (id: string, options: { json?: boolean }) => {
      const { reviewIn, reviewTextIn } = await import("../runs/deliveries.ts");
      const gateway = await context.gateway();
      if (options.json === true) return context.screen.json({ runId: id, ...(await reviewIn(gateway, id)) });
      context.screen.document(await reviewTextIn(gateway, id));
    });
};
