// antiphon answer <runId> ... (also: run answer <runId> ...): answers the question of a waiting run.
import type { RunEvent } from "@antiphon/client";
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
    .summary("answer the questions of a run that waits for input")
    .argument("<runId>", "the id of the run", runId)
    .argument("[answers...]", "one answer per question, in the order of the questions")
    .option("--approve", "approve what the run asks approval for")
    .option("--reject", "reject it: the task ends and its change does not land")
    .option("--reason <text>", "the reason; only with --approve or --reject")
    .option("--task <taskId>", "which task to answer, if several are waiting")
    .option("--json", "print one JSON object")
    .addHelpText(
      "after",
      examples([
        'antiphon answer run_4f0c2k9s0x7d2m1q8z3a "use UTC"',
        'antiphon answer run_4f0c2k9s0x7d2m1q8z3a "npm test" # a run that asks for its check',
        "antiphon answer run_4f0c2k9s0x7d2m1q8z3a unverified # take the change without a check",
        "antiphon answer run_4f0c2k9s0x7d2m1q8z3a --approve",
      ]),
    )
    .action(async (id: string, answers: string[], options: AnswerOptions) => {
      const body = {
        ...eventOf(answers, options),
        ...(options.task === undefined ? {} : { task: options.task }),
      };
      const gateway = await context.gateway();
      const answer = await gateway.post("/runs/{id}/events", { id }, body);
      if (options.json === true) return context.screen.json(answer);
      if (options.reject === true)
        return context.screen.out(
          `${answer.taskId} of ${id} is rejected; see how it ends with: antiphon get ${id}`,
        );
      context.screen.out(
        answer.paused === true
          ? `${id} is answered, and paused; it continues after: antiphon resume ${id}`
          : `${id} continues; watch it with: antiphon events ${id}`,
      );
    });
};

function eventOf(answers: string[], { approve, reject, reason }: AnswerOptions): RunEvent {
  if (approve === true && reject === true) throw usage("give either --approve or --reject, not both");
  if (approve === true || reject === true) {
    if (reject === true && answers.length > 0)
      throw usage("--reject takes no answers", 'give the reason with --reason "<text>"');
    return {
      event: "approval",
      choice: approve === true ? "approve" : "reject",
      ...(answers.length > 0 ? { answers } : {}),
      ...(reason === undefined ? {} : { reason }),
    };
  }
  if (reason !== undefined) throw usage("--reason requires --approve or --reject");
  if (answers.length === 0)
    throw usage("missing answer", 'give one: antiphon answer <runId> "<text>", or --approve');
  return { event: "answer", answers };
}
