// antiphon get <runId> (also: run get <runId>): shows the state of a run.
import { examples, runId } from "../context.ts";
import type { AddVerb } from "../context.ts";
import { Failure } from "../failure.ts";
import { withBar } from "../screen/failure-lines.ts";

export const addGet: AddVerb = (program, context) => {
  program
    .command("get")
    .summary("show the state of a run")
    .argument("<runId>", "the id of the run", runId)
    .option("--json", "print one JSON object, with the RunViewModel as `view`")
    .addHelpText(
      "after",
      examples(["antiphon get run_4f0c2k9s0x7d2m1q8z3a", "antiphon run get run_4f0c2k9s0x7d2m1q8z3a --json"]),
    )
    .action(async (id: string, options: { json?: boolean }) => {
      const { printSummary } = await import("../runs/follow.ts");
      const { readSummary } = await import("../runs/read-summary.ts");
      const gateway = await context.gateway();
      const summary = await readSummary(gateway, context.config.directorKeys, id);
      const { deliveryRows, shownDelivery } = await import("../runs/deliveries.ts");
      const delivery = await shownDelivery(context.screen, gateway, summary);
      const { costRows, shownCost } = await import("../evidence/model-cost.ts");
      const model = await shownCost(context.screen, gateway, summary);
      if (options.json === true)
        return context.screen.json({
          ...summary,
          ...delivery,
          model,
          view: await gateway.get("/runs/{id}", { id }),
        });
      printSummary(context, summary);
      for (const row of [...deliveryRows(id, delivery), ...costRows(model)]) context.screen.out(row);
      if (summary.code === null || summary.status === "succeeded") return;
      const { code, message, remedy } = new Failure(summary.code, summary.message).about([id]);
      for (const line of withBar(`  why   ${code}: `, message)) context.screen.out(line);
      if (remedy !== "") context.screen.out(`  remedy: ${remedy}`);
    });
};
