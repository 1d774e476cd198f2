// Records the events people send to an open run.
import { AntiphonError, type StoredRecord } from "@antiphon/contracts";
import { factsOf, isPaused, type RunFacts } from "@antiphon/run";
import { sideEventOf } from "./side-event.ts";
import { messageOf } from "./message.ts";
import type { Answer, Approval, Message } from "./side-event.ts";
import { wordOf } from "./word.ts";
import type { ApprovalGuard } from "../policy/approval-guard.ts";
import type { UnprovenGuard } from "../policy/unproven-guard.ts";
import type { Gateway } from "../gateway.ts";
import type { Backend } from "../ports.ts";

/** Another request may write between our read and our write; after this many lost races the caller gets an error. */
const TRIES = 8;

export function sideEvents(
  backend: Backend,
  records: (runId: string) => Promise<StoredRecord[]>,
  guards: { readonly mayApprove: ApprovalGuard; readonly mayTakeUnproven: UnprovenGuard },
): Gateway["say"] {
  const facts = async (runId: string): Promise<RunFacts> => factsOf(await records(runId));
  return async (runId, body, principal) => {
    const event = sideEventOf(body); // gateway/G1
    if (event.kind === "message") return tell(runId, event, principal);
    return event.kind === "cancel" ? cancel(runId, event.reason, principal) : say(runId, event, principal);
  };

  async function cancel(runId: string, reason: string, by: string): Promise<Record<string, unknown>> {
    const status = (await facts(runId)).closed?.status;
    // The run is canceled already, so a repeated cancel is accepted.
    if (status === "canceled") return { runId, event: "cancel", accepted: true, already: true };
    if (status !== undefined)
      throw new AntiphonError("ANT_RUN_TERMINAL", `${runId} is over: ${status}`, { data: { status } });
    // A second cancel has no further effect; the record keeps the first person and reason.
    const words = { by, reason };
    const record = { type: "cancel", runId, taskId: null, epoch: 0, cause: null, body: words } as const;
    const { kind } = await backend.append(record);
    backend.hintCancel(runId);
    const before = kind === "appended" ? {} : { already: true };
    return { runId, event: "cancel", accepted: true, ...before };
  }

  /** Only while no record has come that this did not see: a message to an attempt that has ended is refused. */
  async function tell(runId: string, event: Message, by: string): Promise<Record<string, unknown>> {
    for (let attempt = 0; attempt < TRIES; attempt += 1) {
      const known = await records(runId);
      const { task, attempt: epoch, record } = messageOf(known, factsOf(known), event, by);
      const answer = { runId, event: "message", accepted: true, taskId: task, epoch };
      if (record === null) return { ...answer, already: true };
      const { kind } = await backend.appendIfUnmoved(record, known.at(-1)?.seq ?? 0);
      if (kind === "conflict" || kind === "moved") continue;
      backend.hintMessage(runId);
      return answer;
    }
    throw new AntiphonError("ANT_GATEWAY_BUSY", `too much happens in ${runId} at once`);
  }

  async function say(runId: string, event: Answer | Approval, by: string): Promise<Record<string, unknown>> {
    for (let attempt = 0; attempt < TRIES; attempt += 1) {
      const known = await facts(runId);
      const { step, record, isUnproven } = wordOf(known, event, by);
      if (record?.type === "approval" && record.body.choice === "approve") await guards.mayApprove(known); // gateway/G1
      if (isUnproven === true) await guards.mayTakeUnproven(known, by); // gateway/G1
      const name = event.kind === "answer" ? event.event : event.kind;
      const { id: taskId, epoch, approval } = step;
      const about = approval === undefined ? {} : { verdict: approval.verdict };
      // An approved change lands and a rejected one ends its task also while the run is paused; anything else waits.
      const isDecision = record?.type === "approval" && record.body.choice !== "changes";
      const held = isPaused(known) && !isDecision ? { paused: true } : {};
      const answer = { runId, event: name, accepted: true, taskId, epoch, ...about, ...held };
      if (record === null) return { ...answer, already: true };
      // On a conflict another person was faster, so our event is judged again.
      if ((await backend.append(record)).kind !== "conflict") return answer;
    }
    throw new AntiphonError("ANT_GATEWAY_BUSY", `too many requests answer ${runId} at once`);
  }
}
