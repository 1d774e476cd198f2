// The notices that another system gets about a run as it is now. Pure.
//
// The id of a notice is derived from its subject, so that a repetition, after a crash or by another gateway, is recognized.
import { sha256Hex, type Notice } from "@antiphon/contracts";
import { runView, type RunFacts } from "@antiphon/run";

export interface NamedNotice {
  /** Of the message, in `webhook-id`. */
  readonly id: string;
  readonly notice: Notice;
}

/** `page`: where people reach the page; null: nobody said. */
export function noticesOf(facts: RunFacts, page: string | null, now: Date): NamedNotice[] {
  const { runId, intent, closed } = facts;
  if (intent === null) return [];
  const about = {
    run: runId,
    goal: intent.intent.goal.slice(0, 2048).toWellFormed(),
    repo: intent.base.repo.path,
    requester: intent.principal,
    link: page === null ? null : `${page}/#/runs/${runId}`,
  };
  const named = (
    type: Notice["type"],
    data: Partial<Notice["data"]>,
    of: readonly unknown[],
  ): NamedNotice => ({
    id: `msg_${sha256Hex(JSON.stringify([type, runId, ...of])).slice(0, 32)}`,
    notice: { type, timestamp: now.toISOString(), data: { ...about, ...data } },
  });
  if (closed !== null) {
    const { status, code } = closed;
    return [named("run.ended", { status, code: code ?? null }, [])];
  }
  return runView(facts).steps.flatMap(({ id: task, phase, epoch, approval, questions }) => {
    if (phase !== "waiting_input") return [];
    if (approval?.state !== "pending") {
      const asked = questions.slice(0, 64).map((text) => text.slice(0, 2048).toWellFormed());
      return [named("run.question", { task, questions: asked }, [task, epoch])];
    }
    const { verdict, needed } = approval;
    return [named("run.approval", { task, verdict, needed }, [task, verdict])];
  });
}
