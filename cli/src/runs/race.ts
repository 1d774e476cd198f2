// antiphon run --parallel <n>: several runs of one task at once, of which at most one lands. The name of the race is part of
// each run, and the branch of that name decides it in git; canceling the others only saves what they would cost.
import { randomBytes } from "node:crypto";
import type { PostBody } from "@antiphon/client";
import type { AgentPack } from "@antiphon/contracts/settings/agent-pack";
import type { Intent } from "@antiphon/contracts";
import type { CliContext } from "../context.ts";
import { costText, modelCost, type ModelCost } from "../evidence/model-cost.ts";
import { Failure, usage } from "../failure.ts";
import { table } from "../screen/table.ts";
import { follow, type FollowEnd } from "./follow.ts";
import { asFlag } from "./option-refusal.ts";
import { startRun } from "./start-run.ts";
import { statusWords } from "./status-words.ts";
import type { RunSummary } from "./summary.ts";

const MOST = 8;
const ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz";
/** An Associate reports a canceled attempt within 20 s, or not at all. */
const REPORT_MS = 25_000;
const LOOK_MS = 500;

export interface Racer {
  readonly runId: string;
  /** The agent, for people. */
  readonly agent: string;
}

export interface RaceEnd {
  /** Null: no run succeeded. */
  readonly winner: RunSummary | null;
  readonly runs: readonly (Racer & { readonly summary: RunSummary; readonly cost: ModelCost })[];
  /** Ctrl-C stopped the watching. */
  readonly isInterrupted: boolean;
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
  recording: PostBody<"/recordings"> | null,
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
  const winners: RunSummary[] = [];
  const ends = await Promise.all(
    racers.map(async ({ runId }) => {
      const end = await follow(context, runId, { logs: false, jsonLines: false, quiet: true, still: true });
      if (end.summary.status !== "succeeded") return end;
      const others = winners.push(end.summary) > 1 ? [] : racers.filter((one) => one.runId !== runId);
      await cancelAll(context, others, `${runId} succeeded first`);
      return end;
    }),
  );
  const isInterrupted = ends.some(({ kind }) => kind === "interrupted");
  const runs = await Promise.all(
    racers.map(async (racer, n) => {
      const summary = await lastOf(context, ends[n]);
      return { ...racer, summary, cost: await settledCost(context, summary, isInterrupted) };
    }),
  );
  return { winner: winners[0] ?? null, runs, isInterrupted };
}

/** A run that waited for people when another one succeeded has been canceled since. */
async function lastOf(context: CliContext, end: FollowEnd | undefined): Promise<RunSummary> {
  if (end === undefined) throw new Failure("ANT_INTERNAL", "a run of the race was not watched");
  if (end.kind !== "waiting") return end.summary;
  const { readSummary } = await import("./read-summary.ts");
  return readSummary(await context.gateway(), context.config.directorKeys, end.summary.runId);
}

async function cancelAll(context: CliContext, racers: readonly Racer[], reason: string): Promise<void> {
  const gateway = await context.gateway();
  for (const { runId } of racers)
    await gateway
      .post("/runs/{id}/events", { id: runId }, { event: "cancel", reason })
      .catch((error: unknown) => {
        const failure = Failure.from(error);
        if (failure.data.httpStatus !== 409) context.screen.failure(failure); // It has ended by itself.
      });
}

/** The attempt of a canceled run reports what it left after the run has ended. */
async function settledCost(
  context: CliContext,
  { runId, status, tasks }: RunSummary,
  isInterrupted: boolean,
): Promise<ModelCost> {
  const gateway = await context.gateway();
  const until = Date.now() + REPORT_MS;
  const isOpen = status === "canceled" && !isInterrupted;
  const attempts = isOpen ? Math.max(0, ...tasks.map(({ epoch }) => epoch)) : 0;
  for (;;) {
    const cost = await modelCost(gateway, runId);
    if (cost.attempts >= attempts || Date.now() >= until) return cost;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

export function raceRows({ runs, winner }: Pick<RaceEnd, "runs" | "winner">): string[] {
  return table(
    runs.map(({ runId, agent, summary, cost }) => [
      `  ${runId === winner?.runId ? "✓" : "·"} ${runId}`,
      agent,
      summary.code === null
        ? statusWords(summary.status)
        : `${statusWords(summary.status)} (${summary.code})`,
      costText(cost),
    ]),
  );
}
