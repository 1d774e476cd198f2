// antiphon bakeoff --runs <filter> --agent a --agent b: the tasks of past runs once more, with each of several agents.
import { collect, examples } from "../context.ts";
import type { AddVerb, CliContext } from "../context.ts";
import { usage } from "../failure.ts";

interface BakeoffFlags {
  readonly runs: string;
  readonly agent?: string[];
  readonly limit: string;
  readonly atOnce: string;
  readonly modelUsd?: string;
  readonly json?: boolean;
}

const MOST_AGENTS = 8;

export const addBakeoff: AddVerb = (program, context) => {
  program
    .command("bakeoff")
    .summary("do the tasks of past runs again with several agents, and compare acceptance, cost and time")
    .description(
      "Starts a run for each past run and each agent, with the goal, the checks and the commit of the past one. Each lands at most\n" +
        "on its own branch. Prints how many runs of each agent were accepted, and what a run cost and took, with intervals of 95 %.",
    )
    .option("--runs <filter>", "which past runs: all, or status=...,repo=...,since=7d", "all")
    .option(
      "--agent <name[@model[@host]]>",
      "an agent pack or its directory, with another model and host of its calls; default: the host of the past run (repeatable)",
      collect,
    )
    .option("--limit <n>", "at most the newest n past runs", "20")
    .option("--at-once <n>", "runs at one time; more of them disturb the times", "1")
    .option("--model-usd <amount>", "budget in US dollars of each run; default: that of the past run")
    .option("--json", "print one JSON object")
    .addHelpText(
      "after",
      examples([
        "antiphon bakeoff --runs repo=.,since=30d --agent claude --agent codex",
        "antiphon bakeoff --runs status=succeeded --agent pi@gpt-6.1-sol --agent pi@small --model-usd 0.5 --json",
      ]),
    )
    .action(async (flags: BakeoffFlags) => {
      await run(context, flags);
    });
};

async function run(context: CliContext, flags: BakeoffFlags): Promise<void> {
  const { agent: names = [], json = false } = flags;
  if (names.length === 0 || names.length > MOST_AGENTS)
    throw usage(`a bake-off needs 1 to ${MOST_AGENTS} agents`, "--agent claude --agent codex");
  const limit = wholeNumber("--limit", flags.limit, 1000);
  const atOnce = wholeNumber("--at-once", flags.atOnce, 64);
  const modelUsdMicro = flags.modelUsd === undefined ? null : usdMicro(flags.modelUsd);
  const { contestantOf } = await import("../bakeoff/contestant.ts");
  const contestants = await Promise.all([...new Set(names)].map((name) => contestantOf(context, name)));
  const { filterFlags, filterOf } = await import("../runs/run-filter.ts");
  const { listRuns } = await import("../runs/run-pages.ts");
  const { bakeoff } = await import("../bakeoff/bakeoff.ts");
  const { isOver, pastTasks, requireRuns } = await import("../bakeoff/past-runs.ts");
  const { leftOutLines } = await import("../bakeoff/sample.ts");
  const { exitCodeOf, HEADER, standingRows, standingsOf } = await import("../bakeoff/standings.ts");
  const { printList } = await import("../screen/list.ts");
  const filter = filterOf(filterFlags(flags.runs));
  const gateway = await context.gateway();
  const { runs: known } = await listRuns(gateway, filter, Number.POSITIVE_INFINITY);
  const past = known.filter(isOver).map(({ runId }) => runId);
  const sample = await pastTasks(gateway, past, limit);
  const { screen } = context;
  for (const line of leftOutLines(sample)) screen.err(line);
  requireRuns(sample.tasks, flags.runs);
  const stop = new AbortController();
  const onInterrupt = (): void => stop.abort();
  process.once("SIGINT", onInterrupt);
  const { tasks, repeated, withoutRepository } = sample;
  const order = { tasks, contestants, atOnce, modelUsdMicro };
  const baked = await bakeoff(context, order, stop.signal).finally(() =>
    process.removeListener("SIGINT", onInterrupt),
  );
  const { entries, failures } = baked;
  const agents = contestants.map(({ name }) => name);
  const standings = standingsOf(entries, agents);
  for (const failure of failures) screen.failure(failure);
  context.setExitCode(stop.signal.aborted ? 130 : exitCodeOf(baked));
  const leftOut = { repeated, withoutRepository };
  if (json) return screen.json({ pastRuns: tasks.length, leftOut, standings, runs: entries });
  printList(screen, HEADER, standingRows(standings));
  for (const { agent, runId, of, status, code } of entries)
    screen.out(
      screen.colours.dim(`  ${runId ?? "-"}  ${of}  ${agent}  ${status}${code === null ? "" : ` ${code}`}`),
    );
}

function wholeNumber(flag: string, text: string, most: number): number {
  if (/^\d{1,6}$/.test(text) && Number(text) >= 1 && Number(text) <= most) return Number(text);
  throw usage(`${flag} takes a number from 1 to ${most}, not ${JSON.stringify(text)}`);
}

function usdMicro(text: string): number {
  if (/^\d{1,4}(\.\d{1,6})?$/.test(text) && Number(text) > 0) return Math.round(Number(text) * 1_000_000);
  throw usage(`--model-usd takes an amount, not ${JSON.stringify(text)}`);
}
