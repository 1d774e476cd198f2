// Runs a race and prints how it ended.
import type { PostBody } from "@antiphon/client";
import type { Intent } from "@antiphon/contracts";
import type { CliContext } from "../context.ts";
import { Failure } from "../failure.ts";
import { printSummary } from "./follow.ts";
import { race, raceRows, type RaceEnd } from "./race.ts";
import { exitCodeOf, type RunSummary } from "./summary.ts";

export interface Race {
  readonly name: string;
  readonly goal: string;
  readonly intents: readonly { readonly agent: string; readonly intent: Intent }[];
  readonly recording: PostBody<"/recordings"> | null;
  readonly json: boolean;
}

export async function reportRace(context: CliContext, order: Race): Promise<void> {
  const { screen } = context;
  const { name, goal, intents, json } = order;
  if (!json) screen.out(`${name}  ${intents.length} runs at once: ${goal}`);
  const end = await race(context, intents, order.recording);
  const { winner, runs, isInterrupted } = end;
  const shown = winner ?? openOf(end);
  if (json) screen.json({ race: name, winner: winner?.runId ?? null, runs });
  else {
    for (const row of raceRows(end)) screen.out(row);
    if (isInterrupted)
      screen.err(`the runs go on; at most one lands. Stop one with: antiphon cancel <runId>`);
    else printSummary(context, shown);
  }
  if (isInterrupted) return context.setExitCode(130);
  const { code, message, status } = shown;
  if (code !== null && status !== "succeeded" && !json) screen.failure(new Failure(code, message));
  context.setExitCode(exitCodeOf(status));
}

/** Without a winner: the run that waits for people, else the last one. */
function openOf({ runs }: RaceEnd): RunSummary {
  const open = runs.find(({ summary }) => summary.status === "waiting_input") ?? runs.at(-1);
  if (open === undefined) throw new Failure("ANT_INTERNAL", "a race without runs");
  return open.summary;
}
