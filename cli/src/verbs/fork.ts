// antiphon fork <runId> --at <event>: a new run that goes on live from an event of another one.
import type { AgentSpec } from "@antiphon/contracts";
import { examples, runId } from "../context.ts";
import type { AddVerb, CliContext } from "../context.ts";
import { Failure, usage } from "../failure.ts";

interface ForkFlags {
  readonly at: string;
  readonly feedback?: string;
  readonly agent?: string;
  readonly model?: string;
  readonly modelHost?: string;
  readonly modelUsd?: string;
  readonly detach?: boolean;
  readonly json?: boolean;
}

export const addFork: AddVerb = (program, context) => {
  program
    .command("fork")
    .summary("go on from an event of a run in a new one: with feedback, another agent or another model")
    .description(
      "Starts a run from the commit of that attempt, with the tasks that were not done by then and the feedback of that time. Model\n" +
        "calls up to the event are answered from the record; then the model answers. It lands at most on its own branch.",
    )
    .argument("<runId>", "the id of the run", runId)
    .requiredOption(
      "--at <event>",
      "an attempt (T-001:2), the third model call of it (T-001:2/3), or the number of a record",
    )
    .option("--feedback <text>", "what the attempt is told, besides what it was told then")
    .option("--agent <name[@model[@host]]>", "another agent pack or its directory")
    .option("--model <name>", "another model")
    .option("--model-host <host>", "another host of its calls; default: that of the attempt")
    .option("--model-usd <amount>", "budget in US dollars for its model calls; default: that of the run")
    .option("--detach", "print the run id and return at once")
    .option("--json", "print one JSON object")
    .addHelpText(
      "after",
      examples([
        'antiphon fork run_4f0c2k9s0x7d2m1q8z3a --at T-001:2 --feedback "Keep the old format readable"',
        "antiphon fork run_4f0c2k9s0x7d2m1q8z3a --at T-001:1/5",
        "antiphon fork run_4f0c2k9s0x7d2m1q8z3a --at T-001:1 --agent codex --model-usd 2 --json",
      ]),
    )
    .action(async (id: string, flags: ForkFlags) => {
      await fork(context, id, flags);
    });
};

async function fork(context: CliContext, id: string, flags: ForkFlags): Promise<void> {
  const { forkedAt } = await import("../forks/fork-point.ts");
  const { forkIntent } = await import("../forks/fork-intent.ts");
  const gateway = await context.gateway();
  const { records } = await gateway.get("/runs/{id}/events", { id });
  const first = records.find(({ type }) => type === "intent");
  if (first?.type !== "intent") throw new Failure("ANT_RUN_NOT_FOUND", `${id} has no intent on record`);
  const at = forkedAt(id, records, flags.at);
  const agent = await otherAgent(context, at.agent, flags);
  const { feedback = null } = flags;
  const modelUsdMicro = flags.modelUsd === undefined ? null : usdMicro(flags.modelUsd);
  const intent = forkIntent(first.body, at, { feedback, agent, modelUsdMicro });
  const { startedRun } = await import("../runs/start-run.ts");
  const { runId: started, narrowed } = await startedRun(gateway, intent, null);
  const { screen } = context;
  const { narrowedText } = await import("../runs/narrowed.ts");
  const less = narrowedText(narrowed);
  if (less !== null) screen.err(less);
  const json = flags.json === true;
  if (flags.detach === true) return json ? screen.json({ runId: started, forkOf: id }) : screen.out(started);
  if (!json) screen.out(`${started}  forked from ${id} at ${flags.at}`);
  const { follow, printSummary } = await import("../runs/follow.ts");
  const { exitCodeOf } = await import("../runs/summary.ts");
  const end = await follow(context, started, { logs: false, jsonLines: false, quiet: json });
  const { summary } = end;
  if (json) screen.json({ ...summary, forkOf: id });
  else printSummary(context, summary);
  const { code, message, status } = summary;
  if (code !== null && status !== "succeeded" && !json)
    screen.failure(new Failure(code, message).about([started]));
  context.setExitCode(end.kind === "interrupted" ? 130 : exitCodeOf(status));
}

/** Null: the agent and the model of then. */
async function otherAgent(context: CliContext, then: AgentSpec, flags: ForkFlags): Promise<AgentSpec | null> {
  const { agent, model, modelHost } = flags;
  if (agent === undefined && model === undefined && modelHost === undefined) return null;
  if (agent === undefined && then.kind !== "pack")
    throw usage("--model is about an agent pack, and the attempt had none", "name a pack with --agent");
  const name = agent ?? (then.kind === "pack" ? then.name : "");
  const { packAgent } = await import("@antiphon/contracts/runs/pack-agent");
  const { pastHost } = await import("../bakeoff/past-host.ts");
  const { chosen } = await import("../runs/run-files.ts");
  const { placesOf } = await import("../agents/pack-places.ts");
  const [pack, own] = await chosen(name, placesOf(context));
  if (own.model !== undefined && (model ?? modelHost) !== undefined)
    throw usage(`${name} names its model already`, "leave out --model and --model-host");
  return packAgent(pack, {
    model: own.model ?? model,
    modelHost: own.modelHost ?? modelHost ?? pastHost(then, pack),
  });
}

function usdMicro(text: string): number {
  if (/^\d{1,4}(\.\d{1,6})?$/.test(text) && Number(text) > 0) return Math.round(Number(text) * 1_000_000);
  throw usage(`--model-usd takes an amount, not ${JSON.stringify(text)}`);
}
