// antiphon pause|resume <runId>: hold a run, and let it go on.
import { examples, runId } from "../context.ts";
import type { AddVerb, CliContext } from "../context.ts";

interface ControlOptions {
  readonly reason: string;
  readonly json?: boolean;
}

async function control(
  context: CliContext,
  kind: "pause" | "resume",
  id: string,
  options: ControlOptions,
): Promise<void> {
  const gateway = await context.gateway();
  const body = options.reason === "" ? undefined : { reason: options.reason };
  const answer = await gateway.post<{ already: boolean }>(`/runs/${id}/${kind}`, body);
  if (options.json === true) return context.screen.json(answer);
  const state = kind === "pause" ? "paused" : "not paused";
  if (answer.already) return context.screen.out(`${id} is ${state} already`);
  context.screen.out(
    kind === "pause"
      ? `${id} starts nothing new; what is under way may finish. Let it go on with: antiphon resume ${id}`
      : `${id} goes on; watch it with: antiphon events ${id}`,
  );
}

export const addPause: AddVerb = (program, context) => {
  program
    .command("pause")
    .summary("hold a run: nothing new starts, what is under way may finish and land")
    .argument("<runId>", "the run", runId)
    .option("--reason <text>", "kept with the run", "")
    .option("--json", "one JSON object on stdout")
    .addHelpText("after", examples(['antiphon pause run_4f0c2k9s0x7d2m1q8z3a --reason "freeze until noon"']))
    .action((id: string, options: ControlOptions) => control(context, "pause", id, options));
};

export const addResume: AddVerb = (program, context) => {
  program
    .command("resume")
    .summary("let a paused run go on")
    .argument("<runId>", "the run", runId)
    .option("--reason <text>", "kept with the run", "")
    .option("--json", "one JSON object on stdout")
    .addHelpText("after", examples(["antiphon resume run_4f0c2k9s0x7d2m1q8z3a"]))
    .action((id: string, options: ControlOptions) => control(context, "resume", id, options));
};
