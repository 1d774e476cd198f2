// antiphon cancel <runId> (also: run cancel <runId>): stop a run.
import { examples, runId } from "../context.ts";
import type { AddVerb } from "../context.ts";

export const addCancel: AddVerb = (program, context) => {
  program
    .command("cancel")
    .summary("stop a run; its containers are gone within seconds")
    .argument("<runId>", "the run", runId)
    .option("--reason <text>", "kept with the run", "")
    .option("--json", "one JSON object on stdout")
    .addHelpText("after", examples(['antiphon cancel run_4f0c2k9s0x7d2m1q8z3a --reason "wrong branch"']))
    .action(async (id: string, options: { reason: string; json?: boolean }) => {
      const gateway = await context.gateway();
      const answer = await gateway.post(`/runs/${id}/events`, { event: "cancel", reason: options.reason });
      if (options.json === true) return context.screen.json(answer);
      context.screen.out(`${id} is being stopped; see the end with: antiphon events ${id}`);
    });
};
