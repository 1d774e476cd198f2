/** The part of an attempt that runs in a sandbox: plans its job, starts it and follows it to its end. */
import type { DispatchBody } from "@antiphon/contracts";
import type { Ran, Work } from "../evidence/ran.ts";
import type { AttemptPorts, ExportAgain } from "../ports.ts";
import type { AttemptOrder, Stops } from "./attempt-order.ts";
import { planJob } from "./attempt.ts";
import { withObjects } from "./export-again.ts";
import { followed } from "./job-end.ts";
import type { EarlierWork } from "./earlier-work.ts";
import { jobOf } from "./job-request.ts";
import { RunningJob } from "./running-job.ts";
import { runJob } from "./sandbox-job.ts";

export async function inSandbox(
  order: AttemptOrder & { readonly brief: string; readonly before: EarlierWork },
  ports: AttemptPorts,
  work: Work,
  { budgetMs, deadlineMs }: { readonly budgetMs: number; readonly deadlineMs: number },
  stops: Stops,
): Promise<Ran> {
  const { dispatch, brief, before } = order;
  const plan = planJob(order, work, { brief, budgetMs, probeTools: !ports.tools.has(dispatch.image ?? "") });
  if (plan.steps.length === 0) {
    return { ending: { kind: "ran" }, plan, outcome: null, change: work.change, work };
  }
  const shortened = historyNote(dispatch);
  if (shortened !== null) ports.progress(shortened);
  const job = await jobOf(order, ports.overlays, plan, work.change);
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

/** Says what of the history is not in the sandbox because it does not fit. */
function historyNote({ history }: DispatchBody): string | null {
  if (history === null) return "no git repository in the sandbox: the objects of its commit are too large";
  if (history?.cut !== true) return null;
  return `the git history in the sandbox ends after ${history.commits} commits, because more would be too large`;
}
