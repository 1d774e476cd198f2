// antiphon approve|reject|changes <id>: a person decides about a change that waits to land, or about a request of a run or a
// session.
import { examples, runId } from "../context.ts";
import type { AddVerb, CliContext } from "../context.ts";
import { usage } from "../failure.ts";
import { pendingChange } from "../runs/pending-change.ts";
import { isSessionId, waitingRequest } from "../runs/session-decision.ts";
import { short } from "../screen/short-forms.ts";

interface DecideOptions {
  readonly reason?: string;
  readonly task?: string;
  readonly request?: string;
  readonly verdict?: string;
  readonly json?: boolean;
}
type Choice = "approve" | "reject" | "changes";

const RUN = "run_4f0c2k9s0x7d2m1q8z3a";
const SESSION = "ses_7d2m1q8z3a4f0c2k9s0x";

const decidable = (text: string): string => (isSessionId(text) ? text : runId(text));

const VERBS: Readonly<Record<Choice, { summary: string; done: string; example: string }>> = {
  approve: {
    summary: "approve a verified change so that it lands, or a request of a run or a session",
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
  const examplesOf =
    choice === "changes" ? [example] : [example, `antiphon ${choice} ${SESSION} --request C-7`];
  return (program, context) => {
    const command = program.command(choice).summary(summary);
    if (choice === "changes") command.argument("<runId>", "the id of the run", runId);
    else command.argument("<id>", "the id of the run or the session", decidable);
    const words = "the reason; recorded with the decision and visible to everyone";
    if (choice === "changes") command.requiredOption("--reason <text>", "what to change");
    else command.option("--reason <text>", words);
    command
      .option("--task <taskId>", "which task to decide about, if several are waiting")
      .option("--verdict <digest>", "decide only if this is still the waiting verdict or the session's work");
    if (choice !== "changes")
      command.option("--request <commandId>", "which request of a session, if several are waiting");
    command
      .option("--json", "print one JSON object")
      .addHelpText("after", examples(examplesOf))
      .action((id: string, options: DecideOptions) => {
        requireDigest(options.verdict, id);
        return isSessionId(id) && choice !== "changes"
          ? decideInSession(context, id, choice, options)
          : decide(context, id, choice, options);
      });
  };
};

export const addApprove = addDecision("approve");
export const addReject = addDecision("reject");
export const addChanges = addDecision("changes");

const DIGEST = /^sha256-[\w-]{43}$/;

function requireDigest(text: string | undefined, id: string): void {
  if (text === undefined || DIGEST.test(text)) return;
  const found = JSON.stringify(text.slice(0, 80));
  const where = isSessionId(id)
    ? "leave it out to decide about what waits now"
    : `\`antiphon get ${id}\` shows it`;
  throw usage(`--verdict takes a digest (sha256-...), not ${found}`, where);
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
  const answer = await gateway.post("/runs/{id}/events", { id }, body);
  if (json === true) return context.screen.json(answer);
  const about = answer.verdict === undefined ? "" : ` (verdict ${answer.verdict})`;
  const before = answer.already === true ? "; you had already decided so" : "";
  context.screen.out(`${answer.taskId} of ${id} is ${VERBS[choice].done}${about}${before}`);
  context.screen.out(
    answer.paused === true
      ? `the run is paused; it continues after: antiphon resume ${id}`
      : `watch it with: antiphon events ${id}`,
  );
}

/** A decision names the state that the person saw, so that one about older work is refused. */
async function decideInSession(
  context: CliContext,
  session: string,
  choice: Exclude<Choice, "changes">,
  { reason, request: named, verdict, json }: DecideOptions,
): Promise<void> {
  const gateway = await context.gateway();
  const request = await waitingRequest(gateway, session, named);
  const { commandId, digest, branch, head, requestedBy } = request;
  const work = branch === null || head === null ? "no work yet" : `${branch} at ${short(head)}`;
  context.screen.err(`${commandId} of ${requestedBy ?? "somebody"}: ${request.reason}; ${work}`);
  const body = {
    ...{ commandId, choice, digest: verdict ?? digest },
    ...(reason === undefined ? {} : { reason }),
  };
  const answer = await gateway.post("/sessions/{id}/approvals", { id: session }, body);
  if (json === true) return context.screen.json(answer);
  context.screen.out(`${commandId} of ${session} is ${VERBS[choice].done}`);
}
