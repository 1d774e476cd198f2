// Runs a race and prints how it ended.
import type { PostBody } from "@antiphon/client";
import type { Intent } from "@antiphon/contracts";
import type { CliContext } from "../context.ts";
import { Failure } from "../failure.ts";
import { printSummary } from "./follow.ts";
import { race, raceRows, type RaceEnd, type RacerEnd } from "./race.ts";
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
  const end = await race(context, intents, order);
  const { winner, runs, isInterrupted } = end;
  const shown = winner ?? openOf(runs);
  if (json) screen.json({ race: name, winner: winner?.runId ?? null, runs: runs.map(shownRun) });
  else {
    for (const row of raceRows(end)) screen.out(row);
    if (shown !== null && (winner !== null || !isInterrupted)) printSummary(context, shown);
  }
  if (isInterrupted) {
    if (!json) screen.err(goOn(winner));
    return context.setExitCode(130);
  }
  const unseen = runs.find(({ summary }) => summary === null);
  // It may have succeeded.
  if (unseen?.failure != null && shown?.status !== "succeeded" && shown?.status !== "waiting_input")
    return context.setExitCode(unseen.failure.exitCode);
  if (shown === null) throw new Failure("ANT_INTERNAL", "a race without runs");
  const { runId, code, message, status } = shown;
  if (code !== null && status !== "succeeded" && !json)
    screen.failure(new Failure(code, message).about([runId]));
  context.setExitCode(exitCodeOf(status));
}

function shownRun({ failure: _said, ...shown }: RacerEnd): Omit<RacerEnd, "failure"> {
  return shown;
}

function goOn(winner: RunSummary | null): string {
  const stop = "Stop one with: antiphon cancel <runId>";
  return winner === null
    ? `the runs go on; at most one lands. ${stop}`
    : `${winner.runId} has won. A run that is not canceled goes on, and lands nothing. ${stop}`;
}

/** Without a winner: the run that waits for people, else the last one that can be read. */
function openOf(runs: RaceEnd["runs"]): RunSummary | null {
  const known = runs.flatMap(({ summary }) => summary ?? []);
  return known.find(({ status }) => status === "waiting_input") ?? known.at(-1) ?? null;
}
