// antiphon runs [restore]: lists recent runs, or puts an archived run back into the journal.
import type { Command } from "commander";
import { examples, runId as aRunId } from "../context.ts";
import type { AddVerb, CliContext } from "../context.ts";
import { plain } from "../screen/screen.ts";
import { statusWords } from "../runs/summary.ts";
import { table } from "../screen/table.ts";

function stand(status: string, paused: boolean, code: string | null): string {
  const words = paused ? `${statusWords(status)}, paused` : statusWords(status);
  return code === null ? words : `${words} (${code})`;
}

interface RunLine {
  readonly runId: string;
  readonly status: string;
  readonly paused: boolean;
  readonly goal: string;
  readonly repo: string;
  readonly startedAt: string | null;
  readonly code: string | null;
}

interface Restored {
  readonly records: number;
  readonly restored: number;
}

export const addRuns: AddVerb = (program, context) => {
  const runs = program
    .command("runs")
    .summary("list the runs, newest first")
    .enablePositionalOptions()
    .option("--limit <n>", "maximum number of runs to list", "20")
    .option("--json", "print one JSON object")
    .addHelpText("after", examples(["antiphon runs", "antiphon runs --limit 100 --json"]))
    .action(async (options: { limit: string; json?: boolean }) => {
      const gateway = await context.gateway();
      const answer = await gateway.get<{ runs: RunLine[] }>(
        `/runs?limit=${encodeURIComponent(options.limit)}`,
      );
      if (options.json === true) return context.screen.json(answer);
      if (answer.runs.length === 0)
        return context.screen.out('no runs yet; start one with: antiphon run "<intent>" --repo <path>');
      const rows = answer.runs.map(({ runId, status, paused, goal, startedAt, code }) => [
        runId,
        (startedAt ?? "?").slice(0, 19).replace("T", " "),
        stand(status, paused, code),
        plain(goal).slice(0, 80),
      ]);
      for (const row of table(rows)) context.screen.out(row);
    });
  addRestore(runs, context);
};

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
