// antiphon runs: what was asked for lately.
import { examples } from "../context.ts";
import type { AddVerb } from "../context.ts";
import { plain } from "../screen.ts";
import { statusWords } from "../summary.ts";
import { table } from "../table.ts";

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
  readonly startedAt: string;
  readonly code: string | null;
}

export const addRuns: AddVerb = (program, context) => {
  program
    .command("runs")
    .summary("list the runs, newest first")
    .option("--limit <n>", "how many", "20")
    .option("--json", "one JSON object on stdout")
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
        startedAt.slice(0, 19).replace("T", " "),
        stand(status, paused, code),
        plain(goal).slice(0, 80),
      ]);
      for (const row of table(rows)) context.screen.out(row);
    });
};
