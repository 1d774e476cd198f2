// antiphon pause|resume <runId>: pauses a run, or resumes it.
import type { Command } from "commander";
import { examples, runId } from "../context.ts";
import type { AddVerb, CliContext } from "../context.ts";

const RUN = "run_4f0c2k9s0x7d2m1q8z3a";

const VERBS = {
  pause: {
    summary: "pause a run: nothing new starts, but attempts already running may finish and land",
    example: `antiphon pause ${RUN} --reason "freeze until noon"`,
    state: "already paused",
    done: (id: string) =>
      `${id} is paused; attempts already running may finish. Resume it with: antiphon resume ${id}`,
  },
  resume: {
    summary: "resume a paused run",
    example: `antiphon resume ${RUN}`,
    state: "not paused",
    done: (id: string) => `${id} is resumed; watch it with: antiphon events ${id}`,
  },
};

export const addPause: AddVerb = (program, context) => add("pause", program, context);
export const addResume: AddVerb = (program, context) => add("resume", program, context);

function add(name: keyof typeof VERBS, program: Command, context: CliContext): void {
  const verb = VERBS[name];
  program
    .command(name)
    .summary(verb.summary)
    .argument("<runId>", "the id of the run", runId)
    .option("--reason <text>", "the reason; recorded with the run", "")
    .option("--json", "print one JSON object")
    .addHelpText("after", examples([verb.example]))
    .action(async (id: string, options: { reason: string; json?: boolean }) => {
      const gateway = await context.gateway();
      const body = options.reason === "" ? undefined : { reason: options.reason };
      const answer = await gateway.post(`/runs/{id}/${name}`, { id }, body);
      if (options.json === true) return context.screen.json(answer);
      context.screen.out(answer.already ? `${id} is ${verb.state}` : verb.done(id));
    });
}
