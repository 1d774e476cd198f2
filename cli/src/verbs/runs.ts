// antiphon runs [restore]: lists recent runs, or puts an archived run back into the journal.
import { setTimeout as sleep } from "node:timers/promises";
import { Option } from "commander";
import type { Command } from "commander";
import { examples, runId as aRunId } from "../context.ts";
import type { AddVerb, CliContext } from "../context.ts";
import { usage } from "../failure.ts";
import { filterOf } from "../runs/run-filter.ts";
import { LEAST_WIDTHS, runRows, STATUSES } from "../runs/run-lines.ts";
import type { RunLine } from "../runs/run-lines.ts";
import { listRuns } from "../runs/run-pages.ts";
import { printList } from "../screen/list.ts";

interface RunsFlags {
  readonly limit?: string;
  readonly all?: boolean;
  readonly status?: string;
  readonly repo?: string;
  readonly since?: string;
  readonly watch?: boolean;
  readonly json?: boolean;
}

const SHOWN = 20;
const WATCH_MS = 2_000;

export const addRuns: AddVerb = (program, context) => {
  const runs = program
    .command("runs")
    .summary("list the runs, newest first")
    .enablePositionalOptions()
    .option("--limit <n>", "maximum number of runs to list (default: 20)")
    .option("--all", "list all runs, the archived ones too")
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
        "antiphon runs --all --status failed",
      ]),
    )
    .action(async (flags: RunsFlags) => {
      await list(context, flags);
    });
  addRestore(runs, context);
};

async function list(context: CliContext, flags: RunsFlags): Promise<void> {
  const limit = limitOf(flags);
  const filter = filterOf(flags);
  const gateway = await context.gateway();
  for (;;) {
    const isFiltered = Object.values(filter).some((one) => one !== null);
    const { runs: shown, goesOn } = await listRuns(gateway, filter, limit);
    if (flags.watch === true) context.screen.clear();
    if (flags.json === true) context.screen.json({ runs: shown });
    else show(context, shown, { isFiltered, goesOn });
    if (flags.watch !== true) return;
    await sleep(WATCH_MS);
  }
}

function limitOf({ limit, all }: RunsFlags): number {
  if (limit === undefined) return all === true ? Number.POSITIVE_INFINITY : SHOWN;
  if (all === true) throw usage("give --limit or --all, not both");
  if (!/^[1-9]\d{0,6}$/.test(limit))
    throw usage(`--limit takes a number from 1 to 9999999, not ${JSON.stringify(limit)}`);
  return Number(limit);
}

function show(
  { screen }: CliContext,
  runs: readonly RunLine[],
  { isFiltered, goesOn }: { readonly isFiltered: boolean; readonly goesOn: boolean },
): void {
  if (runs.length === 0 && !isFiltered)
    return screen.out('no runs yet; start one with: antiphon run "<intent>"');
  if (runs.length === 0) return screen.out("no run matches");
  const [columns = [], ...rows] = runRows(runs, Date.now());
  printList(screen, columns, rows, LEAST_WIDTHS);
  if (goesOn) screen.err("there are more: --limit <n> or --all");
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
      const answer = await gateway.post("/runs/{id}/restore", { id }, undefined);
      if (options.json === true) return context.screen.json(answer);
      const { records, restored } = answer;
      context.screen.out(
        restored === 0
          ? `${id} is already in the journal: ${records} records, unchanged`
          : `${id} is back in the journal: ${restored} of ${records} records were put back, unchanged`,
      );
    });
}
