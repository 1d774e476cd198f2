// antiphon runs [restore]: lists recent runs, or puts an archived run back into the journal.
import { Option } from "commander";
import type { Command } from "commander";
import { examples, runId as aRunId } from "../context.ts";
import type { AddVerb, CliContext } from "../context.ts";
import { usage } from "../failure.ts";
import { filterOf } from "../runs/run-filter.ts";
import { matches, runRows, STATUSES } from "../runs/run-lines.ts";
import type { RunLine } from "../runs/run-lines.ts";
import { table } from "../screen/table.ts";

interface Restored {
  readonly records: number;
  readonly restored: number;
}

interface RunsFlags {
  readonly limit: string;
  readonly status?: string;
  readonly repo?: string;
  readonly since?: string;
  readonly watch?: boolean;
  readonly json?: boolean;
}

/** The gateway's own bound; filters look at this many runs. */
const MOST = 1_000;
const WATCH_MS = 2_000;

export const addRuns: AddVerb = (program, context) => {
  const runs = program
    .command("runs")
    .summary("list the runs, newest first")
    .enablePositionalOptions()
    .option("--limit <n>", "maximum number of runs to list", "20")
    .addOption(
      new Option("--status <status>", "only runs in this status; `open`: not ended").choices(STATUSES),
    )
    .option("--repo <path>", "only runs of this repository")
    .option("--since <time>", "only runs that began after a time: 2h, 7d, 2026-01-31")
    .option("--watch", "list them again every two seconds, until Ctrl-C")
    .option("--json", "print one JSON object (with --watch: one per line)")
    .addHelpText(
      "after",
      examples([
        "antiphon runs",
        "antiphon runs --status open --watch",
        "antiphon runs --repo . --since 2h --json",
      ]),
    )
    .action(async (flags: RunsFlags) => {
      await list(context, flags);
    });
  addRestore(runs, context);
};

async function list(context: CliContext, flags: RunsFlags): Promise<void> {
  const { limit } = flags;
  if (!/^[1-9]\d{0,3}$/.test(limit) || Number(limit) > MOST)
    throw usage(`--limit takes a number from 1 to ${MOST}, not ${JSON.stringify(limit)}`);
  const filter = filterOf(flags);
  const gateway = await context.gateway();
  for (;;) {
    const isFiltered = Object.values(filter).some((one) => one !== null);
    const answer = await gateway.get<{ runs: RunLine[] }>(`/runs?limit=${isFiltered ? MOST : limit}`);
    const shown = answer.runs.filter((run) => matches(run, filter)).slice(0, Number(limit));
    if (flags.watch === true) context.screen.clear();
    if (flags.json === true) context.screen.json({ runs: shown });
    else show(context, shown, isFiltered);
    if (flags.watch !== true) return;
    await new Promise((resolve) => setTimeout(resolve, WATCH_MS));
  }
}

function show({ screen }: CliContext, runs: readonly RunLine[], isFiltered: boolean): void {
  if (runs.length === 0 && !isFiltered)
    return screen.out('no runs yet; start one with: antiphon run "<intent>"');
  if (runs.length === 0) return screen.out("no run matches");
  const [header = "", ...rows] = table(runRows(runs, Date.now()));
  screen.out(screen.colours.dim(header));
  for (const row of rows) screen.out(row);
}

function addRestore(runs: Command, context: CliContext): void {
  runs
    .command("restore")
    .summary("put the records of an archived run back into the journal")
    .description(
      "get, events and evidence read an archived run without this. Use it for tools that read the journal directly. The run is archived again after the time that a finished run stays in the journal.",
    )
    .argument("<runId>", "the id of the run", aRunId)
    .option("--json", "print one JSON object")
    .addHelpText(
      "after",
      examples([
        "antiphon runs restore run_4f0c2k9s0x7d2m1q8z3a",
        "antiphon runs restore run_4f0c2k9s0x7d2m1q8z3a --json",
      ]),
    )
    .action(async (id: string, options: { json?: boolean }) => {
      const gateway = await context.gateway();
      const answer = await gateway.post<Restored>(`/runs/${id}/restore`, undefined);
      if (options.json === true) return context.screen.json(answer);
      const { records, restored } = answer;
      context.screen.out(
        restored === 0
          ? `${id} is already in the journal: ${records} records, unchanged`
          : `${id} is back in the journal: ${restored} of ${records} records were put back, unchanged`,
      );
    });
}
