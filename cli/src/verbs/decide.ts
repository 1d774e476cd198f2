// antiphon approve|reject|changes <runId>: a person decides about a change that waits to land, or about a request.
import { examples, runId } from "../context.ts";
import type { AddVerb, CliContext } from "../context.ts";
import { pendingChange } from "../runs/pending-change.ts";
import { short } from "../runs/sentences.ts";

interface DecideOptions {
  readonly reason?: string;
  readonly task?: string;
  readonly verdict?: string;
  readonly json?: boolean;
}
type Choice = "approve" | "reject" | "changes";

const RUN = "run_4f0c2k9s0x7d2m1q8z3a";

const VERBS: Readonly<Record<Choice, { summary: string; done: string; example: string }>> = {
  approve: {
    summary: "approve a verified change so that it lands, or a request of a run",
    done: "approved",
    example: `antiphon approve ${RUN}`,
  },
  reject: {
    summary: "reject a change or a request: the task ends and its change does not land",
    done: "rejected",
    example: `antiphon reject ${RUN} --reason "changes the public API"`,
  },
  changes: {
    summary: "send a change back: the task is tried again, with your reason as feedback",
    done: "sent back for changes",
    example: `antiphon changes ${RUN} --reason "keep the old signature"`,
  },
};

const addDecision = (choice: Choice): AddVerb => {
  const { summary, example } = VERBS[choice];
  return (program, context) => {
    const command = program.command(choice).summary(summary).argument("<runId>", "the id of the run", runId);
    const words = "the reason; recorded with the decision and visible to everyone";
    if (choice === "changes") command.requiredOption("--reason <text>", "what to change");
    else command.option("--reason <text>", words);
    command
      .option("--task <taskId>", "which task to decide about, if several are waiting")
      .option("--verdict <digest>", "decide only if this is still the waiting verdict")
      .option("--json", "print one JSON object")
      .addHelpText("after", examples([example]))
      .action((id: string, options: DecideOptions) => decide(context, id, choice, options));
  };
};

export const addApprove = addDecision("approve");
export const addReject = addDecision("reject");
export const addChanges = addDecision("changes");

interface Decided {
  readonly taskId: string;
  readonly verdict?: string;
  readonly already?: boolean;
}

async function decide(
  context: CliContext,
  id: string,
  choice: Choice,
  { reason, task, verdict, json }: DecideOptions,
): Promise<void> {
  const gateway = await context.gateway();
  const pending = verdict === undefined ? await pendingChange(gateway, id, task) : null;
  if (pending !== null)
    context.screen.err(`${pending.task}: commit ${short(pending.commit)}, ${pending.message}`);
  const seen = verdict ?? pending?.verdict;
  const body = {
    event: "approval",
    choice,
    ...(reason === undefined ? {} : { reason }),
    ...(task === undefined ? {} : { task }),
    ...(seen === undefined ? {} : { verdict: seen }),
  };
  const answer = await gateway.post<Decided>(`/runs/${id}/events`, body);
  if (json === true) return context.screen.json(answer);
  const about = answer.verdict === undefined ? "" : ` (verdict ${answer.verdict})`;
  const before = answer.already === true ? "; you had already decided so" : "";
  context.screen.out(`${answer.taskId} of ${id} is ${VERBS[choice].done}${about}${before}`);
  context.screen.out(`watch it with: antiphon events ${id}`);
}
