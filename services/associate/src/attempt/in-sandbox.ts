/**
 * The part of an attempt that runs in a sandbox: it starts the job, or takes over the one that asked a question, and gives it
 * the messages that people send meanwhile.
 */
import type { DispatchBody } from "@antiphon/contracts";
import type { Ran, Work } from "../evidence/proposal.ts";
import type { AttemptPorts, ExportAgain } from "../ports.ts";
import type { AttemptOrder, Stops } from "./attempt-order.ts";
import { budgetMsOf, planJob } from "./attempt.ts";
import { withObjects } from "./export-again.ts";
import { ended } from "./job-end.ts";
import type { EarlierWork } from "./earlier-work.ts";
import { RunningJob } from "./running-job.ts";
import { jobOf, runJob } from "./sandbox-job.ts";

export async function inSandbox(
  order: AttemptOrder & { readonly brief: string; readonly before: EarlierWork },
  ports: AttemptPorts,
  work: Work,
  deadlineMs: number,
  stops: Stops,
): Promise<Ran> {
  const { dispatch, runId, epoch } = order;
  const budgetMs = budgetMsOf(dispatch);
  const plan = planJob({
    runId,
    epoch,
    dispatch,
    work: work.steps,
    selfVerify: work.selfVerify,
    isProgram: work.isProgram ?? false,
    mayAsk: work.mayAsk ?? work.isProgram ?? false,
    goesOn: work.goesOn,
    asks: work.asks,
    compiles: work.compiles !== undefined,
    brief: order.brief,
    budgetMs,
    probeTools: !ports.tools.has(dispatch.image ?? ""),
  });
  if (plan.steps.length === 0) {
    return { ending: { kind: "ran" }, plan, outcome: null, change: work.change, work };
  }
  const shortened = historyNote(dispatch);
  if (shortened !== null) ports.progress(shortened);
  const job = await jobOf(order, ports.overlays, plan, work.change);
  const { before } = order;
  const messages = { briefed: before.told.told, first: order.replay?.read ?? [] };
  let until = deadlineMs;
  const exportAgain: ExportAgain = async (attempt, signal) => {
    const askedAt = ports.clock.now();
    await ports.exportAgain(attempt, signal);
    until += ports.clock.now() - askedAt; // waiting is free
  };
  const running = new RunningJob({ plan, work, budgetMs, before, ...messages }, (own, calls) =>
    withObjects(order, { ...ports, exportAgain }, own.stop, () =>
      runJob(job, plan, ports, until, own, calls),
    ),
  );
  return followed(running, order, ports, stops);
}

/** While the job runs, it is given what people tell the attempt. */
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

/** Says what of the history is not in the sandbox because it does not fit. */
function historyNote({ history }: DispatchBody): string | null {
  if (history === null) return "no git repository in the sandbox: the objects of its commit are too large";
  if (history?.cut !== true) return null;
  return `the git history in the sandbox ends after ${history.commits} commits, because more would be too large`;
}
