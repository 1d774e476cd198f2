// antiphon answer <runId> ... (also: run answer <runId> ...): what a waiting run asked for.
import { examples, runId } from "../context.ts";
import type { AddVerb } from "../context.ts";
import { usage } from "../failure.ts";

interface AnswerOptions {
  readonly approve?: boolean;
  readonly reject?: boolean;
  readonly reason?: string;
  readonly task?: string;
  readonly json?: boolean;
}

export const addAnswer: AddVerb = (program, context) => {
  program
    .command("answer")
    .summary("answer a run that waits for input")
    .argument("<runId>", "the run", runId)
    .argument("[answers...]", "one answer per question, in their order")
    .option("--approve", "say yes to what it asks approval for")
    .option("--reject", "say no: the task ends and nothing of it lands")
    .option("--reason <text>", "why, with --approve or --reject")
    .option("--task <taskId>", "the task that asks, when several do")
    .option("--json", "one JSON object on stdout")
    .addHelpText(
      "after",
      examples([
        'antiphon answer run_4f0c2k9s0x7d2m1q8z3a "use UTC"',
        "antiphon answer run_4f0c2k9s0x7d2m1q8z3a --approve",
      ]),
    )
    .action(async (id: string, answers: string[], options: AnswerOptions) => {
      const body = {
        ...eventOf(answers, options),
        ...(options.task === undefined ? {} : { task: options.task }),
      };
      const gateway = await context.gateway();
      const answer = await gateway.post(`/runs/${id}/events`, body);
      if (options.json === true) return context.screen.json(answer);
      context.screen.out(`${id} goes on; watch it with: antiphon events ${id}`);
    });
};

function eventOf(answers: string[], { approve, reject, reason }: AnswerOptions): Record<string, unknown> {
  if (approve === true && reject === true) throw usage("--approve and --reject exclude each other");
  if (approve === true || reject === true) {
    if (reject === true && answers.length > 0)
      throw usage("--reject takes no answers", 'say why with --reason "<text>"');
    return {
      event: "approval",
      choice: approve === true ? "approve" : "reject",
      ...(answers.length > 0 ? { answers } : {}),
      ...(reason === undefined ? {} : { reason }),
    };
  }
  if (reason !== undefined) throw usage("--reason goes with --approve or --reject");
  if (answers.length === 0)
    throw usage("there is no answer", 'give one: antiphon answer <runId> "<text>", or --approve');
  return { event: "answer", answers };
}
