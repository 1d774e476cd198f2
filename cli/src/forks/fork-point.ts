// The event of a run from which a fork goes on, as `--at` names it, and what the run knew then. Pure.
import { ALL_CALLS } from "@antiphon/contracts/runs/fork";
import type { RunRecord } from "@antiphon/client";
import type { AgentSpec, AnsweredCriteria, Feedback, Fork } from "@antiphon/contracts";
import { usage } from "../failure.ts";

export interface ForkedAt {
  readonly fork: Fork;
  /** The commit that the attempt starts from: with all that had landed by then. */
  readonly base: string;
  /** The agent that made the attempt. */
  readonly agent: AgentSpec;
  /** The tasks that were done by then. */
  readonly done: readonly string[];
  /** What people had answered by then about the proof of the run. */
  readonly answered: readonly AnsweredCriteria[];
}

type Of<T extends RunRecord["type"]> = Extract<RunRecord, { type: T }>;

/** The attempt that is named, how many of its model calls, and whether the attempt after it is meant. */
interface Named {
  readonly task: string;
  readonly epoch: number;
  readonly calls: number;
  readonly isAfter: boolean;
}

/** @param at `T-001:2`, `T-001:2/3` or the number of a record @throws Failure ANT_USAGE */
export function forkedAt(runId: string, records: readonly RunRecord[], at: string): ForkedAt {
  const named = namedBy(records, at);
  const dispatch = records.find(
    (one): one is Of<"dispatch"> =>
      one.type === "dispatch" && one.taskId === named.task && one.epoch === named.epoch,
  );
  if (dispatch === undefined || dispatch.body.gate !== undefined) throw unknown(records, at);
  const { task, epoch, calls, isAfter } = named;
  const rejected = isAfter ? rejectionOf(records, task, epoch) : [];
  const feedback = [...dispatch.body.feedback, ...rejected];
  return {
    fork: { run: runId, task, epoch: isAfter ? epoch + 1 : epoch, calls, feedback },
    base: dispatch.body.base.commit,
    agent: dispatch.body.agent,
    done: doneBefore(records, dispatch.seq),
    answered: answeredBefore(records, dispatch.seq),
  };
}

function namedBy(records: readonly RunRecord[], at: string): Named {
  const attempt = /^([A-Za-z0-9][\w-]{0,63}):(\d{1,6})(?:\/(\d{1,4}))?$/.exec(at);
  if (attempt !== null) {
    const [, task = "", epoch = "", calls = "0"] = attempt;
    return { task, epoch: Number(epoch), calls: Number(calls), isAfter: false };
  }
  const record = /^\d{1,15}$/.test(at) ? records.find(({ seq }) => seq === Number(at)) : undefined;
  if (record === undefined) throw unknown(records, at);
  const { type, taskId: task, epoch } = record;
  if (task === null) throw unknown(records, at);
  if (type === "dispatch" || type === "claim") return { task, epoch, calls: 0, isAfter: false };
  if (type === "result") return { task, epoch, calls: ALL_CALLS, isAfter: false };
  if (type === "verdict" && record.body.asks === undefined) return { task, epoch, calls: 0, isAfter: true };
  throw unknown(records, at);
}

/** The feedback that the attempt after a verdict got, or would have got. */
function rejectionOf(records: readonly RunRecord[], task: string, epoch: number): Feedback[] {
  const record = records.find(
    (one): one is Of<"verdict"> => one.type === "verdict" && one.taskId === task && one.epoch === epoch,
  );
  if (record === undefined || record.body.verdict === "PASS") return [];
  const { code, message, checks } = record.body;
  return [{ epoch, code: code ?? "ANT_VERIFY_CHECK_FAILED", message, checks }];
}

function doneBefore(records: readonly RunRecord[], seq: number): string[] {
  return records.flatMap((one) => {
    if (one.taskId === null || one.seq > seq) return [];
    const isLanded = one.type === "landing" && one.body.kind === "landed";
    const isEmpty = one.type === "verdict" && one.body.verdict === "PASS" && one.body.commit === null;
    return isLanded || isEmpty ? [one.taskId] : [];
  });
}

/** What people have answered about the proof of a run, up to a record. */
export function answeredBefore(records: readonly RunRecord[], seq = Infinity): AnsweredCriteria[] {
  return records.flatMap((one) => {
    if (one.type !== "input" || one.seq > seq) return [];
    const { taskId, epoch, body } = one;
    const asked = records.find(
      (other): other is Of<"verdict"> =>
        other.type === "verdict" && other.taskId === taskId && other.epoch === epoch,
    );
    return asked?.body.asks === undefined ? [] : [{ asks: asked.body.asks, answer: body }];
  });
}

const SHOWN = 12;

function unknown(records: readonly RunRecord[], at: string): Error {
  const attempts = records.flatMap((one) => {
    const isOfWork = one.type === "dispatch" && one.body.gate === undefined;
    return isOfWork ? [`${one.taskId ?? ""}:${one.epoch}`] : [];
  });
  const known = attempts.length === 0 ? "this run has none yet" : attempts.slice(0, SHOWN).join(", ");
  return usage(
    `--at takes an attempt (T-001:2), one of its model calls (T-001:2/3) or the number of a dispatch, result or verdict, not ${JSON.stringify(at)}`,
    `the attempts: ${known}; \`antiphon events <runId> --json\` shows the numbers (seq)`,
  );
}
