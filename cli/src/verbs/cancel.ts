// antiphon cancel <runId> (also: run cancel <runId>): stop a run.
import { examples, runId } from "../context.ts";
import type { AddVerb } from "../context.ts";

export const addCancel: AddVerb = (program, context) => {
  program
    .command("cancel")
    .summary("stop a run and remove its containers")
    .argument("<runId>", "the id of the run", runId)
    .option("--reason <text>", "the reason; recorded with the run", "")
    .option("--json", "print one JSON object")
    .addHelpText("after", examples(['antiphon cancel run_4f0c2k9s0x7d2m1q8z3a --reason "wrong branch"']))
    .action(async (id: string, options: { reason: string; json?: boolean }) => {
      const gateway = await context.gateway();
      const answer = await gateway.post(
        "/runs/{id}/events",
        { id },
        { event: "cancel", reason: options.reason },
      );
      if (options.json === true) return context.screen.json(answer);
      context.screen.out(
        answer.already === true
          ? `${id} was canceled before; see how it ends with: antiphon get ${id}`
          : `${id} is being canceled; watch it end with: antiphon events ${id}`,
      );
    });
};
