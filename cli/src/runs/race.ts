// antiphon run --parallel <n>: several runs of one task at once, of which at most one lands. The name of the race is part of
// each run, and the branch of that name decides it in git; canceling the others only saves what they would cost.
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { PostBody } from "@antiphon/client";
import type { AgentPack } from "@antiphon/contracts/settings/agent-pack";
import type { Intent } from "@antiphon/contracts";
import type { CliContext } from "../context.ts";
import { costText, costUnread, modelCost, type ModelCost } from "../evidence/model-cost.ts";
import { Failure, usage } from "../failure.ts";
import { table } from "../screen/table.ts";
import { asFlag } from "./option-refusal.ts";
import { cancelAll, watchRace, type Racer, type Watched } from "./race-watch.ts";
import { startRun } from "./start-run.ts";
import { statusWords } from "./status-words.ts";
import type { RunSummary } from "./summary.ts";

const MOST = 8;
const ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz";
/** An Associate reports a canceled attempt within 20 s, or not at all. */
const REPORT_MS = 25_000;
const LOOK_MS = 500;

export interface RaceEnd {
  /** Null: no run is known to have succeeded. */
  readonly winner: RunSummary | null;
  readonly runs: readonly RacerEnd[];
  /** Ctrl-C stopped the watching. */
  readonly isInterrupted: boolean;
}

export interface RacerEnd extends Racer {
  /** Null: it cannot be read. */
  readonly summary: RunSummary | null;
  /** Null: it cannot be read. */
  readonly cost: ModelCost | null;
  /** Why the run could not be watched to its end, or null. */
  readonly failure: Failure | null;
}

/** The number of runs; each agent of a list gets its turn. Throws ANT_USAGE. */
export function racersOf(
  given: string,
  packs: readonly AgentPack[],
  others: Readonly<Record<string, unknown>>,
): number {
  if (!/^\d+$/.test(given) || Number(given) < 2 || Number(given) > MOST)
    throw usage(`--parallel takes a number from 2 to ${MOST}, not ${JSON.stringify(given)}`);
  if (packs.length > Number(given))
    throw usage(
      `--agent names ${packs.length} agents, and --parallel ${given} has no run for some of them`,
      `--parallel ${packs.length}`,
    );
  const unfit = ["detach", "follow", "tasks", "plan"].find(
    (one) => others[one] === true || typeof others[one] === "string",
  );
  if (unfit !== undefined)
    throw usage(
      `--parallel does not go with --${unfit}`,
      "a race is about one task, and is watched until one run has succeeded",
    );
  return Number(given);
}

export function raceName(): string {
  return `race_${Array.from(randomBytes(20), (byte) => ALPHABET[byte % ALPHABET.length]).join("")}`;
}

/** `intents`: those of the runs, by the name of their agent. */
export async function race(
  context: CliContext,
  intents: readonly { readonly agent: string; readonly intent: Intent }[],
  { recording, json }: { readonly recording: PostBody<"/recordings"> | null; readonly json: boolean },
): Promise<RaceEnd> {
  const gateway = await context.gateway();
  const racers: Racer[] = [];
  for (const { agent, intent } of intents) {
    const runId = await startRun(gateway, intent, recording).catch(async (error: unknown) => {
      await cancelAll(context, racers, "the race could not start");
      throw asFlag(Failure.from(error));
    });
    racers.push({ runId, agent });
  }
  const ends = await watchRace(context, racers, { json });
  const isInterrupted = ends.some(({ kind }) => kind === "interrupted");
  const runs = await Promise.all(
    racers.map(async (racer, n): Promise<RacerEnd> => {
      const end = ends[n];
      if (end === undefined) throw new Failure("ANT_INTERNAL", "a run of the race was not watched");
      const summary = await lastOf(context, racer.runId, end);
      const cost = summary === null ? null : await settledCost(context, summary, isInterrupted);
      return { ...racer, summary, cost, failure: end.kind === "lost" ? end.failure : null };
    }),
  );
  const winner = runs.find(({ summary }) => summary?.status === "succeeded")?.summary ?? null;
  return { winner, runs, isInterrupted };
}

/** Read again if the end of the run was not seen, because it may have ended since. */
async function lastOf(context: CliContext, runId: string, end: Watched): Promise<RunSummary | null> {
  if (end.kind === "closed") return end.summary;
  try {
    const { readSummary } = await import("./read-summary.ts");
    return await readSummary(await context.gateway(), context.config.directorKeys, runId);
  } catch (thrown) {
    const failure = Failure.from(thrown);
    if (end.kind !== "lost") {
      context.screen.failure(failure);
      return end.summary;
    }
    if (failure.code !== end.failure.code) context.screen.failure(failure);
    return null;
  }
}

/** A stopped run ends first; then its attempt reports the work that it left. */
async function settledCost(
  context: CliContext,
  { runId, status, code, tasks }: RunSummary,
  isInterrupted: boolean,
): Promise<ModelCost | null> {
  const until = Date.now() + REPORT_MS;
  const isOpen = (status === "canceled" || code === "ANT_RACE_LOST") && !isInterrupted;
  const attempts = isOpen ? Math.max(0, ...tasks.map(({ epoch }) => epoch)) : 0;
  try {
    const gateway = await context.gateway();
    for (;;) {
      const cost = await modelCost(gateway, runId);
      if (cost.attempts >= attempts || Date.now() >= until) return cost;
      await sleep(LOOK_MS);
    }
  } catch (thrown) {
    costUnread(context.screen, runId, thrown);
    return null;
  }
}

export function raceRows({ runs, winner }: Pick<RaceEnd, "runs" | "winner">): string[] {
  return table(
    runs.map(({ runId, agent, summary, cost }) => [
      `  ${runId === winner?.runId ? "✓" : "·"} ${runId}`,
      agent,
      endWords(summary),
      cost === null ? "cost unknown" : costText(cost),
    ]),
  );
}

function endWords(summary: RunSummary | null): string {
  if (summary === null) return "unknown";
  const { code, status } = summary;
  return code === null ? statusWords(status) : `${statusWords(status)} (${code})`;
}
