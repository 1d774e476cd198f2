// Shows a run that this command has started, until it has ended, waits for people, or Ctrl-C stops the watching.
import type { CliContext } from "../context.ts";
import { costRows, shownCost } from "../evidence/model-cost.ts";
import { Failure } from "../failure.ts";
import { deliveryRows, shownDelivery } from "./deliveries.ts";
import { follow, printSummary } from "./follow.ts";
import { exitCodeOf } from "./summary.ts";
import { turnedAway } from "./turned-away.ts";

export interface Shown {
  /** One JSON object; with `logs` one document per line. */
  readonly json: boolean;
  /** Also the live output of the sandboxes. */
  readonly logs: boolean;
}

/** `interrupted`: Ctrl-C came before; `heard`: called when nothing listens for it here any more. Sets the exit code. */
export async function watchedToItsEnd(
  context: CliContext,
  runId: string,
  { json, logs }: Shown,
  interrupted: AbortSignal,
  heard: () => void,
): Promise<void> {
  const jsonLines = json && logs;
  const end = await follow(context, runId, { logs, jsonLines, quiet: json, interrupted }).finally(heard);
  if (end.kind === "interrupted") return turnedAway(context, runId);
  const gateway = await context.gateway();
  const delivery = await shownDelivery(context.screen, gateway, end.summary);
  const model = await shownCost(context.screen, gateway, end.summary);
  const summary = { ...end.summary, ...delivery, model };
  const { code, message, status } = summary;
  if (json) context.screen.json(jsonLines ? { event: "summary", ...summary } : summary);
  else {
    printSummary(context, end.summary);
    for (const row of [...deliveryRows(runId, delivery), ...costRows(model)]) context.screen.out(row);
    if (code !== null && status !== "succeeded")
      context.screen.failure(new Failure(code, message).about([runId]));
  }
  context.setExitCode(exitCodeOf(status));
}
