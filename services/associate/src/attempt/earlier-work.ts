/**
 * The earlier work that an attempt starts from, and that its agent is told: the change and the feedback of the attempt before,
 * the results of the tasks that it depends on, the change that a skill judges, and the model calls of the attempt that a
 * fork begins again.
 */
import { AntiphonError } from "@antiphon/contracts";
import type { BlobRef, DispatchBody } from "@antiphon/contracts";
import { DIFF_FILE } from "../evidence/bundle.ts";
import type { AttemptPorts, Change, ToldBefore } from "../ports.ts";
import { recordedCalls } from "../replay/recorded-attempt.ts";
import type { AttemptOrder } from "./attempt-order.ts";
import { earlierOf } from "./earlier-tasks.ts";
import { isOwnFault } from "./fault.ts";
import { withSections } from "./feedback.ts";

export interface EarlierWork {
  /** The dispatch, with the whole feedback on the attempt before. */
  readonly dispatch: DispatchBody;
  /**
   * Whether an answer to the same request may be used again. A fork asks its agent, and a replay of an attempt that asked
   * gives it the recorded answers.
   */
  readonly mayReuse: boolean;
  /** The files that are changed when the agent starts; null: it starts from the base. */
  readonly change: Change | null;
  readonly told: ToldBefore;
}

export async function earlierWork(order: AttemptOrder, ports: AttemptPorts): Promise<EarlierWork> {
  const { dispatch, replay, mailbox } = order;
  const previousDiff = await previousDiffOf(order, ports);
  const completed = await withSections(order, ports);
  const asked = await askedBefore(order, ports);
  const start = asked === null ? (dispatch.continue_change === true ? previousDiff : null) : asked.diff;
  const change = await continued(dispatch, start, ports);
  const isApplied = change !== null;
  const judged = await judgedIn(dispatch, ports);
  const told = replay?.briefed ?? mailbox?.forBrief() ?? [];
  const earlier = await earlierOf(order, ports);
  const hasAsked = isApplied && asked !== null;
  return {
    dispatch: completed,
    mayReuse: replay === undefined ? dispatch.fork === undefined : replay.calls.length === 0,
    change,
    told: { previousDiff: start ?? previousDiff, isApplied, hasAsked, judged, earlier, told },
  };
}

/** Those of the attempt that a fork begins again. A replay has its own. */
export async function recordedBefore(
  { dispatch: { fork }, replay }: AttemptOrder,
  { evidence }: AttemptPorts,
): Promise<readonly BlobRef[]> {
  return fork === undefined || replay !== undefined ? [] : recordedCalls(fork, evidence);
}

/** The change that a skill judges, as the clean room verified it. A skill cannot do without it. */
async function judgedIn({ gate }: DispatchBody, { evidence }: AttemptPorts): Promise<string | null> {
  return gate === undefined ? null : evidence.text({ path: DIFF_FILE, blob: gate.diff });
}

/** Attempts that were lost, or only asked, have no change; the newest that is not older than this is told. */
const OLDEST_DIFF = 5;

/** Of the newest attempt that left one. It only helps the agent, so an attempt does without it if it cannot be read. */
async function previousDiffOf(
  { runId, epoch, dispatch }: AttemptOrder,
  { evidence, log }: AttemptPorts,
): Promise<string | null> {
  try {
    for (let at = epoch - 1; at >= Math.max(1, epoch - OLDEST_DIFF); at -= 1) {
      const diff = await evidence.diffOf(runId, dispatch.task.task_id, at);
      if (diff !== null) return diff;
    }
    const { fork } = dispatch;
    for (let at = (fork?.epoch ?? 1) - 1; fork !== undefined && at >= 1; at -= 1) {
      const diff = await evidence.diffOf(fork.run, fork.task, at);
      if (diff !== null) return diff;
    }
  } catch (error) {
    log.warn({ err: error, run: runId, epoch }, "the diff of the attempt before cannot be read");
  }
  return null;
}

/**
 * The change of the attempt that ended with the question that was answered last, if nothing was done after it; null: there is no
 * such attempt. This one starts from it. Attempts that were lost have left no evidence, and are passed over.
 */
async function askedBefore(
  { runId, epoch, dispatch }: AttemptOrder,
  { evidence, log }: Pick<AttemptPorts, "evidence" | "log">,
): Promise<{ readonly diff: string | null } | null> {
  const { answers, gate, task } = dispatch;
  if (answers.length === 0 || gate !== undefined) return null;
  try {
    for (let at = epoch - 1; at >= Math.max(1, epoch - OLDEST_DIFF); at -= 1) {
      const bundle = await evidence.bundleOf(runId, task.task_id, at);
      if (bundle === null) continue;
      if (bundle.decision !== "needs_input") return null;
      return { diff: await evidence.diffOf(runId, task.task_id, at) };
    }
  } catch (error) {
    log.warn({ err: error, run: runId, epoch }, "the attempt that asked cannot be read");
  }
  return null;
}

/** The change to start from; null: there is none, or it does not fit the base any more. */
async function continued(
  { base }: DispatchBody,
  diff: string | null,
  { trees, progress }: AttemptPorts,
): Promise<Change | null> {
  if (diff === null) return null;
  try {
    return await trees.apply(base, diff);
  } catch (thrown) {
    const { code, detail } = AntiphonError.from(thrown);
    if (!isOwnFault(code)) throw thrown; // associate/A5
    progress(
      `starts from the original files, because the change of the attempt before does not apply: ${detail}`,
    );
    return null;
  }
}
