// antiphon retry <runId>: the same intent again, as a new run.
import { examples, runId } from "../context.ts";
import type { AddVerb } from "../context.ts";

export const addRetry: AddVerb = (program, context) => {
  program
    .command("retry")
    .summary("start the intent of a failed or canceled run again, as a new run")
    .argument("<runId>", "the run that failed or was canceled", runId)
    .option("--json", "one JSON object on stdout")
    .addHelpText("after", examples(["antiphon retry run_4f0c2k9s0x7d2m1q8z3a"]))
    .action(async (id: string, options: { json?: boolean }) => {
      const gateway = await context.gateway();
      const answer = await gateway.post<{ runId: string; replayed: boolean }>(`/runs/${id}/retry`, undefined);
      if (options.json === true) return context.screen.json(answer);
      context.screen.out(answer.runId);
      const what = answer.replayed ? "was started before" : "is a new run of the same intent";
      context.screen.err(`it ${what}; follow it with: antiphon events ${answer.runId}`);
    });
};
