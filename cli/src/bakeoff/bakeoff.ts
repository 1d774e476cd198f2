// Does the tasks of past runs again with each of several agents, and measures the runs.
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { AgentSpec, Intent } from "@antiphon/contracts";
import type { CliContext } from "../context.ts";
import { costUnread, modelCost } from "../evidence/model-cost.ts";
import type { Failure } from "../failure.ts";
import type { GatewayClient } from "../gateway/gateway-client.ts";
import { cancelAll } from "../runs/race-watch.ts";
import { readSummary } from "../runs/read-summary.ts";
import { startRun } from "../runs/start-run.ts";
import type { RunSummary } from "../runs/summary.ts";
import { runHeats, type Outcome } from "./heats.ts";
import { askedAnew, heatOf, mostUsdMicro, pastTask } from "./past-task.ts";
import type { Sample } from "./sample.ts";
import { END_UNKNOWN, NOT_STARTED, STOPPED, type Entry } from "./standings.ts";

export interface Contestant {
  readonly name: string;
  /** The contestant's agent for a task, given the agent that did it before. */
  readonly agentFor: (past: AgentSpec) => AgentSpec;
}

export interface Order {
  readonly tasks: Sample["tasks"];
  readonly contestants: readonly Contestant[];
  readonly atOnce: number;
  readonly modelUsdMicro: number | null;
}

const LOOK_MS = 500;
const OPEN: ReadonlySet<string> = new Set(["queued", "running", "waiting_input"]);
interface Heat {
  readonly of: string;
  readonly contestant: Contestant;
  readonly intent: Intent;
}

interface Measured {
  readonly end: RunSummary;
  readonly usdMicro: number | null;
}

export interface Baked {
  /** In the order of the past runs, and for each of them of the agents. */
  readonly entries: readonly Entry[];
  /** What kept runs from starting or from being watched, each code once. */
  readonly failures: readonly Failure[];
  /** Why nothing more was started, or null. */
  readonly stoppedBy: Failure | null;
}

/** A run that waits for people is canceled. `stop` cancels those that are under way. */
export async function bakeoff(context: CliContext, order: Order, stop: AbortSignal): Promise<Baked> {
  const gateway = await context.gateway();
  const heats = heatsOf(order);
  context.screen.err(announced(order, heats));
  let ended = 0;
  const course = {
    start: ({ intent }: Heat) => startRun(gateway, intent, null),
    measure: async (_heat: Heat, runId: string): Promise<Measured> => {
      context.screen.status(`${ended} of ${heats.length} runs have ended`);
      const end = await endOf(context, gateway, runId, stop);
      ended += 1;
      context.screen.status(`${ended} of ${heats.length} runs have ended`);
      return { end, usdMicro: await chargedFor(context, gateway, runId) };
    },
  };
  try {
    const { outcomes, stoppedBy } = await runHeats(heats, order.atOnce, course, stop);
    const failures = new Map(outcomes.flatMap(({ failure }) => (failure ? [[failure.code, failure]] : [])));
    const entries = outcomes.map((outcome) => entryOf(outcome, stop.aborted));
    return { entries, failures: [...failures.values()], stoppedBy };
  } finally {
    context.screen.status(null);
  }
}

function heatsOf({ tasks, contestants, modelUsdMicro }: Order): Heat[] {
  return tasks.flatMap(({ of, body }) =>
    contestants.flatMap((contestant) => {
      const intent = pastTask(
        body,
        askedAnew(contestant.agentFor(body.options.agent), randomUUID()),
        modelUsdMicro,
      );
      return intent === null ? [] : [{ of, contestant, intent: heatOf(intent, of) }];
    }),
  );
}

/** Says how many runs start, and how much they may cost in all if each has a budget in dollars. */
function announced({ tasks, contestants }: Order, heats: readonly Heat[]): string {
  const count = (n: number, what: string): string => `${n} ${what}${n === 1 ? "" : "s"}`;
  const total = mostUsdMicro(heats.map(({ intent }) => intent));
  const most = total === null ? "" : `, for at most $${(total / 1_000_000).toFixed(2)} in all`;
  return `starts ${count(heats.length, "run")}: ${count(tasks.length, "task")} with ${count(contestants.length, "agent")}${most}`;
}

function entryOf({ heat, runId, measured, failure }: Outcome<Heat, Measured>, isStopped: boolean): Entry {
  const entry = { agent: heat.contestant.name, of: heat.of, runId };
  if (runId === null || measured === null) {
    const status = runId === null ? NOT_STARTED : END_UNKNOWN;
    return { ...entry, status, code: failure?.code ?? null, seconds: null, usdMicro: null };
  }
  const { end, usdMicro } = measured;
  const status = isStopped && end.status === "canceled" ? STOPPED : end.status;
  return { ...entry, status, code: end.code, seconds: end.durationMs / 1000, usdMicro };
}

async function endOf(
  context: CliContext,
  gateway: GatewayClient,
  runId: string,
  stop: AbortSignal,
): Promise<RunSummary> {
  let isCanceled = false;
  for (;;) {
    const { status } = await gateway.get("/runs/{id}", { id: runId });
    if (!OPEN.has(status)) return readSummary(gateway, context.config.directorKeys, runId);
    if (!isCanceled && (stop.aborted || status === "waiting_input")) {
      isCanceled = true;
      const reason = stop.aborted ? "the bake-off was stopped" : "a bake-off waits for nobody";
      await cancelAll(context, [{ runId, agent: "" }], reason);
    }
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
