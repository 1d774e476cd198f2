// antiphon wait <runId>: returns when a run has ended or needs a person.
import { examples, runId } from "../context.ts";
import type { AddVerb } from "../context.ts";

export const addWait: AddVerb = (program, context) => {
  program
    .command("wait")
    .summary("wait until a run has ended or needs a person, then print its status")
    .description("Exit codes: 0 succeeded, 1 failed or canceled, 3 it needs an answer or an approval.")
    .argument("<runId>", "the id of the run", runId)
    .option("--json", "print one JSON object")
    .addHelpText(
      "after",
      examples([
        "antiphon wait run_4f0c2k9s0x7d2m1q8z3a",
        'antiphon wait "$(antiphon run "Fix it" --program my-agent --detach)"',
      ]),
    )
    .action(async (id: string, options: { json?: boolean }) => {
      const { follow } = await import("../runs/follow.ts");
      const { exitCodeOf } = await import("../runs/summary.ts");
      const end = await follow(context, id, {
        ...{ logs: false, jsonLines: false, quiet: true },
        news: options.json !== true,
      });
      if (end.kind === "interrupted") return context.setExitCode(130);
      const { status, code } = end.summary;
      if (options.json === true) context.screen.json(end.summary);
      else context.screen.out(code === null ? status : `${status} ${code}`);
      context.setExitCode(exitCodeOf(status));
    });
};
