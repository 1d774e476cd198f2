// antiphon retry <runId>: starts the same intent again, as a new run.
import { examples, runId } from "../context.ts";
import type { AddVerb } from "../context.ts";

export const addRetry: AddVerb = (program, context) => {
  program
    .command("retry")
    .summary("start the intent of a failed or canceled run again, as a new run")
    .argument("<runId>", "the id of the failed or canceled run", runId)
    .option("--json", "print one JSON object")
    .addHelpText("after", examples(["antiphon retry run_4f0c2k9s0x7d2m1q8z3a"]))
    .action(async (id: string, options: { json?: boolean }) => {
      const gateway = await context.gateway();
      const answer = await gateway.post("/runs/{id}/retry", { id }, undefined);
      if (options.json === true) return context.screen.json(answer);
      context.screen.out(answer.runId);
      const { narrowedText } = await import("../runs/narrowed.ts");
      const less = narrowedText(answer.narrowed);
      if (less !== null) context.screen.err(less);
      const what = answer.replayed
        ? "was already retried as this run"
        : "started a new run of the same intent";
      context.screen.err(`${what}; watch it with: antiphon events ${answer.runId}`);
    });
};
