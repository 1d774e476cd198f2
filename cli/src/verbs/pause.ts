// antiphon pause|resume <runId>: hold a run, and let it go on.
import type { Command } from "commander";
import { examples, runId } from "../context.ts";
import type { AddVerb, CliContext } from "../context.ts";

const RUN = "run_4f0c2k9s0x7d2m1q8z3a";

const VERBS = {
  pause: {
    summary: "hold a run: nothing new starts, what is under way may finish and land",
    example: `antiphon pause ${RUN} --reason "freeze until noon"`,
    state: "paused",
    done: (id: string) =>
      `${id} starts nothing new; what is under way may finish. Let it go on with: antiphon resume ${id}`,
  },
  resume: {
    summary: "let a paused run go on",
    example: `antiphon resume ${RUN}`,
    state: "not paused",
    done: (id: string) => `${id} goes on; watch it with: antiphon events ${id}`,
  },
};

export const addPause: AddVerb = (program, context) => add("pause", program, context);
export const addResume: AddVerb = (program, context) => add("resume", program, context);

function add(name: keyof typeof VERBS, program: Command, context: CliContext): void {
  const verb = VERBS[name];
  program
    .command(name)
    .summary(verb.summary)
    .argument("<runId>", "the run", runId)
    .option("--reason <text>", "kept with the run", "")
    .option("--json", "one JSON object on stdout")
    .addHelpText("after", examples([verb.example]))
    .action(async (id: string, options: { reason: string; json?: boolean }) => {
      const gateway = await context.gateway();
      const body = options.reason === "" ? undefined : { reason: options.reason };
      const answer = await gateway.post<{ already: boolean }>(`/runs/${id}/${name}`, body);
      if (options.json === true) return context.screen.json(answer);
      context.screen.out(answer.already ? `${id} is ${verb.state} already` : verb.done(id));
    });
}
