// antiphon events <runId>: watches a run from its first record to its end.
import { examples, runId } from "../context.ts";
import type { AddVerb } from "../context.ts";

export const addEvents: AddVerb = (program, context) => {
  program
    .command("events")
    .summary("watch a run from its first record to its end")
    .argument("<runId>", "the id of the run", runId)
    .option("--logs", "also show the live output of the sandboxes")
    .option("--json", "print one JSON object per line: every record, then the summary")
    .addHelpText("after", examples(["antiphon events run_4f0c2k9s0x7d2m1q8z3a --logs"]))
    .action(async (id: string, options: { logs?: boolean; json?: boolean }) => {
      const { follow, printSummary } = await import("../runs/follow.ts");
      const { exitCodeOf } = await import("../runs/summary.ts");
      const json = options.json === true;
      const end = await follow(context, id, { logs: options.logs === true, jsonLines: json, quiet: false });
      if (end.kind === "interrupted") return context.setExitCode(130);
      if (json) context.screen.json({ event: "summary", ...end.summary });
      else printSummary(context, end.summary);
      context.setExitCode(exitCodeOf(end.summary.status));
    });
};
