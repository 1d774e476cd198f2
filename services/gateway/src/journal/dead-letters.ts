// Lists, shows and requeues dead letters. A requeue delivers the record again to the consumer that gave it up.
import { AntiphonError, parseJournalSubject } from "@antiphon/contracts";
import type { NewRecord } from "@antiphon/contracts";
import { factsOf, type RunFacts } from "@antiphon/run";
import { letterLine, originOf, requeueBody } from "./dead-letter.ts";
import type { LetterLine } from "./dead-letter.ts";
import { refused } from "../policy/policy-guard.ts";
import type { PolicyGuard } from "../policy/policy-guard.ts";
import type { Backend } from "../ports.ts";
import { locate, placesOf } from "../intents/repository-place.ts";

export interface DeadLetterController {
  list(after: number, limit: number): Promise<{ letters: LetterLine[]; more: number }>;
  show(id: string): Promise<LetterLine & { payload: string; origin: { subject: string; seq: number } }>;
  requeue(id: string, principal: string): Promise<{ id: string; runId: string; n: number; accepted: true }>;
}

const TRIES = 8;

export function deadLetterController(backend: Backend, guard: PolicyGuard): DeadLetterController {
  const find = async (id: string) => {
    // The id must be the exact subject of a letter, because a wildcard would match other letters.
    const kept = /^[a-z0-9_-]+(\.[a-z0-9_-]+){4}$/.test(id) ? await backend.deadLetter(id) : null;
    if (kept === null)
      throw new AntiphonError("ANT_DLQ_NOT_FOUND", `there is no dead letter ${id.slice(0, 200)}`);
    return kept;
  };
  return {
    async list(after, limit) {
      const { letters, more } = await backend.deadLetters(after, limit);
      return { letters: letters.map(letterLine), more };
    },
    async show(id) {
      const kept = await find(id);
      const { payload, origin } = kept.letter;
      return { ...letterLine(kept), payload, origin };
    },
    async requeue(id, principal) {
      await guard.admitCall(principal);
      const kept = await find(id);
      const runId = parseJournalSubject(kept.letter.origin.subject)?.runId;
      if (runId === undefined)
        throw new AntiphonError(
          "ANT_DLQ_UNREADABLE",
          `${kept.letter.origin.subject} is not a record of a run`,
        );
      for (let attempt = 0; attempt < TRIES; attempt += 1) {
        const records = await backend.read(runId);
        const { intent, requeues, closed } = factsOf(records);
        if (closed !== null)
          throw new AntiphonError("ANT_DLQ_RUN_OVER", `${runId} is over: antiphon retry ${runId}`, {
            data: { runId },
          });
        await requireAllowed({ backend, guard }, intent, principal);
        const origin = originOf(kept.letter, records);
        const n = 1 + requeues;
        const cause = { seq: origin.seq, digest: origin.digest };
        const body = requeueBody(kept.letter, origin, principal);
        const record: NewRecord = { type: "requeue", runId, taskId: null, epoch: n, cause, body };
        const outcome = await backend.append(record);
        if (outcome.kind === "conflict") continue;
        await backend.removeDeadLetter(kept);
        return { id, runId, n, accepted: true };
      }
      throw new AntiphonError("ANT_GATEWAY_BUSY", `too many requests requeue letters of ${runId} at once`);
    },
  };
}

/** The current policy must allow the run, because it may have changed since the run was started. */
async function requireAllowed(
  { backend, guard }: { backend: Backend; guard: PolicyGuard },
  started: RunFacts["intent"],
  principal: string,
): Promise<void> {
  if (started === null) return;
  const { intent, options, base } = started;
  const found = await locate(backend, base.repo);
  const places = found === null ? [base.repo.path] : placesOf(found);
  const asked = { intent, options, places, landRef: null, principal };
  const { refusal } = await guard.judge(asked);
  if (refusal !== null) throw refused(refusal);
}
