/**
 * Carries out one attempt: context -> agent -> sandbox (work, then self-verification) -> diff -> evidence.
 *
 * It ends with a report, with the infrastructure fault that prevented one, or, when it is stopped, without either. An attempt
 * of a canceled run is stopped too, but what its agent has left until then may have been paid for: it is read from the
 * sandbox, stored, and reported as a failure, until `giveUp` aborts.
 *
 * Promises:
 *   associate/A5 Because a fault of the infrastructure says nothing about the task, it is tried again while patience
 *     and budget last and then abandoned, and is never reported as a failure of the task; only after limits.maxOutages
 *     attempts without a sandbox does the task fail, with the code of the outage.
 */
import { AntiphonError } from "@antiphon/contracts";
import { agentFor } from "../agents/agent-for.ts";
import type { Ran } from "../evidence/ran.ts";
import { reported } from "../evidence/reported.ts";
import { NO_CHANGE } from "../ports.ts";
import type { AttemptPorts } from "../ports.ts";
import type { AttemptEnd, Stopped, StopReason } from "./attempt-end.ts";
import type { AttemptOrder, Stops } from "./attempt-order.ts";
import { briefRoom, budgetMsOf } from "./attempt.ts";
import { briefJson } from "./brief.ts";
import { merged } from "./change.ts";
import { earlierWork, recordedBefore } from "./earlier-work.ts";
import { withTreesAgain } from "./export-again.ts";
import { isOwnFault } from "./fault.ts";
import { inSandbox } from "./in-sandbox.ts";
import { followed } from "./job-end.ts";
import type { RunningJob } from "./running-job.ts";

export async function carryOut(order: AttemptOrder, given: AttemptPorts, stops: Stops): Promise<AttemptEnd> {
  const { stop, giveUp } = stops;
  const ports = withTreesAgain(order, given, giveUp);
  try {
    const ran = await attempted(order, ports, stops);
    if (giveUp.aborted || (stop.aborted && !hasLeft(ran))) return stoppedBy(stop);
    const body = await reported(order, ports, stop.aborted ? canceledIn(ran) : ran);
    return giveUp.aborted ? stoppedBy(stop) : { kind: "reported", body };
  } catch (thrown) {
    const { code, detail, data } = AntiphonError.from(thrown);
    const message = detail.slice(0, 2048);
    if (stop.aborted) {
      return { ...stoppedBy(stop), ...(data["mayLive"] === true ? { left: { code, message } } : {}) }; // associate/A1
    }
    ports.log.warn({ err: thrown, code, run: order.runId, epoch: order.epoch }, "attempt abandoned");
    return { kind: "abandoned", code, message, ...(data["outage"] === true ? { outage: true } : {}) }; // associate/A5
  }
}

function stoppedBy(stop: AbortSignal): Stopped {
  return { kind: "stopped", why: stop.reason as StopReason };
}

/** A sandbox that was stopped before its first command has nothing to keep. */
const hasLeft = ({ outcome }: Ran): boolean => outcome !== null && outcome.steps.length > 0;

/** A question or a proposal of a canceled run asks for nothing more, so its attempt ends as stopped. */
function canceledIn(ran: Ran): Ran {
  if (ran.ending.kind === "stopped") return ran;
  return {
    ...ran,
    ending: { kind: "stopped", code: "ANT_SANDBOX_CANCELED", message: "the run was canceled" },
  };
}

/** The container that asked goes on with the answer. Null: it was lost, and nothing runs in it any more. */
async function goneOn(
  held: RunningJob,
  order: AttemptOrder,
  ports: AttemptPorts,
  stops: Stops,
): Promise<Ran | null> {
  ports.progress("the container that asked goes on with the answer");
  try {
    return await followed(held, order, ports, stops);
  } catch (thrown) {
    const { data, disposition, detail } = AntiphonError.from(thrown);
    if (stops.stop.aborted || data["mayLive"] === true || disposition !== "retry") throw thrown; // associate/A1
    ports.progress(`the container that asked is lost (${detail}); a fresh one starts with the answer`);
    return null;
  }
}

/** Throws infrastructure faults. */
export async function attempted(order: AttemptOrder, ports: AttemptPorts, stops: Stops): Promise<Ran> {
  const { dispatch, epoch, runId } = order;
  const { stop, giveUp } = stops;
  const budgetMs = budgetMsOf(dispatch);
  const deadlineMs = ports.clock.now() + budgetMs;
  const nothing = { plan: null, outcome: null, change: NO_CHANGE, work: null };
  try {
    // The diff at the end needs the tree; fetching it now overlaps with the sandbox's work.
    ports.trees
      .ensure(dispatch.base, giveUp)
      .catch((error: unknown) => ports.log.debug({ err: error }, "could not fetch the base tree early"));
    const held = ports.held?.take({ runId, taskId: dispatch.task.task_id, epoch }, dispatch.answers) ?? null;
    const gone = held === null ? null : await goneOn(held, order, ports, stops);
    if (gone !== null) return gone;
    const before = await earlierWork(order, ports);
    const { dispatch: completed, mayReuse, told } = before;
    const { trees, recordings, compiled } = ports;
    const context = { dispatch: completed, epoch, ...told, trees, recordings, compiled, mayReuse };
    const prepared = await agentFor(dispatch).prepare(context);
    if (prepared.kind === "ask")
      return { ...nothing, ending: { kind: "asks", questions: prepared.questions } };
    const brief = briefJson(completed, epoch, { maxBytes: briefRoom(prepared.steps.length), ...told });
    const recorded = await recordedBefore(order, ports);
    const work = { ...prepared, change: merged(before.change ?? NO_CHANGE, prepared.change) };
    const full = { ...order, brief, before, recorded };
    return await inSandbox(full, ports, work, { budgetMs, deadlineMs }, stops);
  } catch (thrown) {
    const { code, detail } = AntiphonError.from(thrown);
    if (stop.aborted || !isOwnFault(code)) throw thrown; // associate/A5
    return { ...nothing, ending: { kind: "stopped", code, message: detail } };
  }
}
