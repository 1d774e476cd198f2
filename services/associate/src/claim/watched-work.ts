/**
 * Carries out a claimed attempt under a watch: a cancel, a lost heartbeat and a shutdown each stop the sandbox first. A process
 * that shuts down does not wait for the runner to confirm the stop, because it must store the result while it has a
 * connection. If the cancel was lost, the runner kills the container when the signs of life stop.
 */
import { hears, type StoredRecord } from "@antiphon/contracts";
import type { AttemptEnd } from "../attempt/attempt-end.ts";
import { Mailbox } from "../attempt/mailbox.ts";
import { carryOut } from "../attempt/work.ts";
import { lostBefore } from "./lost-before.ts";
import { watchRun } from "./run-watch.ts";
import type { Settling } from "./settlement.ts";

export async function worked(job: Settling): Promise<AttemptEnd> {
  const { attempt, delivery, journal, identity, ports, lookout, log } = job;
  const { runId, epoch, dispatch } = attempt;
  const mailbox = await mailboxOf(job);
  const take = mailbox === null ? null : (records: readonly StoredRecord[]) => mailbox.take(records);
  const watch = watchRun(lookout, journal, attempt, delivery.signal, log, take);
  try {
    const resumes = await lostBefore(attempt, journal);
    if (resumes !== null) ports.progress(`goes on from attempt ${resumes.newest}, which was lost`);
    const order = {
      ...{ runId, epoch, dispatch, associate: identity.associate },
      ...(mailbox && { mailbox }),
      ...(resumes !== null && { resumes }),
    };
    const stops = { stop: watch.signal, giveUp: watch.giveUp };
    return await Promise.race([carryOut(order, ports, stops), watch.left]);
  } finally {
    watch.release();
  }
}

/** Null: the attempt judges a change, or it is the first and its agent takes no messages. */
async function mailboxOf({ attempt, journal }: Settling): Promise<Mailbox | null> {
  const { runId, taskId, epoch, dispatch } = attempt;
  if (dispatch.gate !== undefined) return null;
  if (epoch === 1 && !hears(dispatch.agent, dispatch.task.commands)) return null;
  const mailbox = new Mailbox(taskId);
  mailbox.take(await journal.read(runId, ["message"]));
  return mailbox;
}
