// Watches a run until it has ended, needs a person, or the watching is stopped.
import { foldFacts } from "@antiphon/run/facts/facts-fold";
import { noFacts } from "@antiphon/run/facts/run-facts";
import { runView } from "@antiphon/run/view/run-view";
import { openDecisions } from "../runs/decisions.ts";
import { narrate } from "../runs/sentences.ts";
import { summarize } from "../runs/summary.ts";
import type { ToolContext } from "./tool.ts";

export interface Watching {
  /** Ends the watching; the run goes on. */
  readonly signal: AbortSignal;
  readonly onLine: (text: string) => void;
  /** True: a run that needs a person is watched on. Default: false. */
  readonly untilEnd?: boolean;
}

export async function watchRun(
  { gateway: open, config }: ToolContext,
  runId: string,
  { signal, onLine, untilEnd = false }: Watching,
): Promise<Record<string, unknown>> {
  const gateway = await open();
  const decisions = openDecisions(gateway, config.directorKeys);
  let facts = noFacts(runId);
  for await (const event of gateway.events(runId, { afterSeq: 0, logs: "none", signal })) {
    if (event.kind !== "record") continue;
    await decisions.check(event.record);
    facts = foldFacts(facts, event.record);
    for (const { task, text } of narrate(event.record, facts)) onLine(`${task ?? "run"}: ${text}`);
    // The records so far may be of an earlier question, so the gateway is asked for the state of now.
    if (!untilEnd && runView(facts).status === "waiting_input") {
      const { status } = await gateway.get("/runs/{id}", { id: runId });
      if (status === "waiting_input") break;
    }
  }
  return { ...summarize(facts, decisions.words, Date.now()) };
}
