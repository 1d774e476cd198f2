// Does the tasks of past runs again with each of several agents, and measures the runs.
import { setTimeout as sleep } from "node:timers/promises";
import type { Intent, IntentBody } from "@antiphon/contracts";
import type { AgentSpec } from "@antiphon/contracts";
import type { CliContext } from "../context.ts";
import { costUnread, modelCost } from "../evidence/model-cost.ts";
import { Failure } from "../failure.ts";
import type { GatewayClient } from "../gateway/gateway-client.ts";
import { readSummary } from "../runs/read-summary.ts";
import { startRun } from "../runs/start-run.ts";
import type { RunSummary } from "../runs/summary.ts";
import { pastTask } from "./past-task.ts";
import type { Entry } from "./standings.ts";

export interface Contestant {
  readonly name: string;
  readonly agent: AgentSpec;
}

export interface Order {
  /** Ids of the past runs. */
  readonly runs: readonly string[];
  readonly contestants: readonly Contestant[];
  readonly atOnce: number;
  readonly modelUsdMicro: number | null;
}

const LOOK_MS = 500;
const OPEN: ReadonlySet<string> = new Set(["queued", "running", "waiting_input"]);
/** Of these nothing can be learned, or nothing yet. */
const UNFIT: ReadonlySet<string> = new Set([...OPEN, "canceled", "corrupt"]);

/** Whether a past run has a task to do again: it ended by itself. */
export function isOver({ status }: { readonly status: string }): boolean {
  return !UNFIT.has(status);
}

interface Heat {
  readonly of: string;
  readonly contestant: Contestant;
  readonly intent: Intent;
}

/** In the order of the past runs, and for each of them of the agents. A run that waits for people is canceled. */
export async function bakeoff(context: CliContext, order: Order): Promise<Entry[]> {
  const gateway = await context.gateway();
  const heats = await heatsOf(gateway, order);
  const entries = new Map<Heat, Entry>();
  const open = [...heats];
  const work = async (): Promise<void> => {
    for (let heat = open.shift(); heat !== undefined; heat = open.shift()) {
      context.screen.status(`${entries.size} of ${heats.length} runs have ended`);
      entries.set(heat, await ran(context, gateway, heat));
    }
  };
  try {
    await Promise.all(Array.from({ length: Math.min(order.atOnce, heats.length) }, work));
  } finally {
    context.screen.status(null);
  }
  return heats.flatMap((heat) => entries.get(heat) ?? []);
}

async function heatsOf(gateway: GatewayClient, { runs, contestants, modelUsdMicro }: Order): Promise<Heat[]> {
  const heats: Heat[] = [];
  for (const of of runs) {
    const body = await intentOf(gateway, of);
    for (const contestant of contestants) {
      const intent = body === null ? null : pastTask(body, contestant.agent, modelUsdMicro);
      if (intent !== null) heats.push({ of, contestant, intent });
    }
  }
  return heats;
}

async function intentOf(gateway: GatewayClient, runId: string): Promise<IntentBody | null> {
  const { records } = await gateway.get("/runs/{id}/events", { id: runId });
  const first = records.find(({ type }) => type === "intent");
  return first?.type === "intent" ? first.body : null;
}

async function ran(context: CliContext, gateway: GatewayClient, heat: Heat): Promise<Entry> {
  const { of, contestant, intent } = heat;
  const runId = await startRun(gateway, intent, null);
  const { status, code, durationMs } = await ended(context, gateway, runId);
  const usdMicro = await chargedFor(context, gateway, runId);
  return { agent: contestant.name, runId, of, status, code, seconds: durationMs / 1000, usdMicro };
}

async function ended(context: CliContext, gateway: GatewayClient, runId: string): Promise<RunSummary> {
  let isCanceled = false;
  for (;;) {
    const { status } = await gateway.get("/runs/{id}", { id: runId });
    if (status === "waiting_input" && !isCanceled) {
      isCanceled = true;
      const reason = "a bake-off waits for nobody";
      await gateway.post("/runs/{id}/events", { id: runId }, { event: "cancel", reason });
    }
    if (!OPEN.has(status)) return readSummary(gateway, context.config.directorKeys, runId);
    await sleep(LOOK_MS);
  }
}

async function chargedFor(
  context: CliContext,
  gateway: GatewayClient,
  runId: string,
): Promise<number | null> {
  try {
    return (await modelCost(gateway, runId)).usdMicro;
  } catch (thrown) {
    costUnread(context.screen, runId, thrown);
    return null;
  }
}

/** @throws Failure ANT_RUN_NOT_FOUND if there is nothing to do again */
export function requireRuns(runs: readonly string[], filter: string): void {
  if (runs.length > 0) return;
  throw new Failure("ANT_RUN_NOT_FOUND", `no run that has ended matches ${filter}`, {
    remedy: "`antiphon runs` lists them; `--runs all` takes each that has ended",
    exitCode: 2,
  });
}
