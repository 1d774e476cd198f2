/** From the end of a sandbox job, or from the question it stopped at, to what the attempt reports: ending and change. */
import type { DispatchBody, SandboxOutcome } from "@antiphon/contracts";
import type { Ran, Work } from "../evidence/ran.ts";
import { ownQuestion, questionIn, questionLeft, withoutQuestion } from "../evidence/question.ts";
import type { Ending } from "../evidence/attempt-facts.ts";
import { withoutOwnWords, type OwnWords } from "../evidence/transcript.ts";
import { NO_CHANGE } from "../ports.ts";
import type { AttemptPorts, Change } from "../ports.ts";
import type { AttemptOrder, Stops } from "./attempt-order.ts";
import { TOOLS_STEP, type JobPlan } from "./attempt.ts";
import { merged, withoutJunk } from "./change.ts";
import { unstartable } from "./check-programs.ts";
import { endingOf, overBudget } from "./ending.ts";
import { answerTo } from "./going-on.ts";
import type { Asked, RunningJob } from "./running-job.ts";

/** Follows a job that was started, or that asked a question, to its end, and gives it what people tell the attempt meanwhile. */
export async function followed(
  running: RunningJob,
  order: AttemptOrder,
  ports: AttemptPorts,
  stops: Stops,
): Promise<Ran> {
  const stop = order.mailbox?.each((told) => running.tell(told));
  try {
    const ran = await ended(running, order, ports, stops);
    return ran.outcome === null ? ran : { ...ran, heard: running.heardIn(ran.outcome) };
  } finally {
    stop?.();
  }
}

/** Waits for the job's end or its next question. A job that asks is kept for the attempt that gets the answer. */
async function ended(
  running: RunningJob,
  { runId, epoch, dispatch }: AttemptOrder,
  ports: AttemptPorts,
  stops: Stops,
): Promise<Ran> {
  const { plan, work, budgetMs } = running.facts;
  let next = await running.next(stops);
  for (; "asked" in next; next = await running.next(stops)) {
    const { text } = next.asked;
    const known = dispatch.answers.findLast(({ question }) => question === text);
    if (known === undefined) break;
    const answer = answerTo(next.asked, known.answer, running.facts, { dispatch, epoch });
    running.answer(answer, epoch); // a fresh container comes to the same question
  }
  if ("asked" in next) {
    if (ports.held === undefined) running.drop();
    else ports.held.keep({ runId, taskId: dispatch.task.task_id, epoch }, running);
    const ending = { kind: "asks", questions: [next.asked.text] } as const;
    const { change, ...own } = await changeAt(next.asked, work, ports);
    const { step: printed } = next.asked;
    return { ending, plan, outcome: null, printed, change: merged(work.change, change), work, ...own };
  }
  const { outcome } = next;
  if (outcome === "over-budget") {
    return { ending: overBudget(budgetMs, null), plan, outcome: null, change: NO_CHANGE, work };
  }
  keepTools(ports, dispatch, outcome);
  const { change: collected, ...own } = withoutOwnWords(await changeIn(outcome, ports), work);
  const after = withoutJunk(collected, work.junk ?? []);
  const left =
    ownQuestion(work.asks, outcome, collected) ??
    (work.mayAsk === true || work.isProgram === true ? questionLeft(outcome, after) : null);
  if (left !== null) {
    const ending = { kind: "asks", questions: [left] } as const;
    return { ending, plan, outcome, change: merged(work.change, withoutQuestion(after)), work, ...own };
  }
  const ending = endedIn(outcome, plan, budgetMs);
  return { ending, plan, outcome, change: merged(work.change, after), work, ...own };
}

/** The work until the question. Another container begins with it if this one is gone when the answer comes. */
async function changeAt(
  { tree }: Asked,
  work: Work,
  ports: AttemptPorts,
): Promise<OwnWords & { readonly change: Change }> {
  if (tree === null) return { change: NO_CHANGE, account: null, used: null };
  const change = { files: await ports.overlays.unpack(tree.overlay), deletions: tree.deletions };
  const collected = withoutOwnWords(change, work);
  return { ...collected, change: withoutQuestion(withoutJunk(collected.change, work.junk ?? [])) };
}

function endedIn(outcome: SandboxOutcome, plan: JobPlan, budgetMs: number): Ending {
  const question = questionIn(outcome);
  if (question !== null) return { kind: "asks", questions: [question] };
  return (
    unstartable(
      plan.checks.map(({ command }) => command),
      outcome,
    ) ?? endingOf(outcome, [...plan.work, ...plan.checks], budgetMs)
  );
}

async function changeIn(outcome: SandboxOutcome, ports: AttemptPorts): Promise<Change> {
  if (outcome.changes === null) return NO_CHANGE;
  const { overlay, deletions } = outcome.changes;
  return { files: await ports.overlays.unpack(overlay), deletions };
}

function keepTools(ports: AttemptPorts, dispatch: DispatchBody, outcome: SandboxOutcome): void {
  const probe = outcome.steps.find((step) => step.id === TOOLS_STEP);
  if (probe === undefined || probe.exitCode !== 0) return;
  const lines = probe.stdout.tail.split("\n").filter((line) => line.trim() !== "");
  ports.tools.set(dispatch.image ?? "", lines);
}
