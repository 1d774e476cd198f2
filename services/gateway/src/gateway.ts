// The gateway's use cases: from the content of an HTTP request to records and back. Knows no HTTP and no NATS.
//
// Invariants (each use case cites the ones it upholds):
//   G1  Nothing is written for a request that is refused.
//   G2  A run id is answered only after the journal has acknowledged its `intent` record (J5).
//   G3  The same Idempotency-Key starts the same run; with another intent it is refused.
//   G5  Every way to a run asks the policy first; see policy-guard.ts.
//   G4  A side event is written to the attempt that waits for it, once; a run that is over takes none.
import { AntiphonError } from "@antiphon/contracts";
import { runView } from "@antiphon/run";
import type { ControlBody, RebuiltRun, RunViewModel, StoredRecord } from "@antiphon/contracts";
import { deadLetterDesk } from "./journal/dead-letters.ts";
import type { DeadLetterDesk } from "./journal/dead-letters.ts";
import type { RestoredRun } from "@antiphon/runtime";
import { CommandSessions } from "./sessions/command-sessions.ts";
import type { SessionStore } from "./sessions/command-sessions.ts";
import { evidenceReader } from "./evidence/evidence-reader.ts";
import type { EvidenceReader } from "./evidence/evidence-reader.ts";
import { journalDesk } from "./journal/journal-desk.ts";
import type { JournalDesk } from "./journal/journal-desk.ts";
import { intentIntake, type IntakeOptions } from "./intents/intent-intake.ts";
import type { IntentIntake } from "./intents/intent-intake.ts";
import { PolicyDesk } from "./policy/policy-desk.ts";
import { PolicyGuard } from "./policy/policy-guard.ts";
import type { Caller } from "./intents/run-admission.ts";
import type { Backend } from "./ports.ts";
import { storeRecording } from "./intents/recording.ts";
import { RunList } from "./runs/run-list.ts";
import { runControl } from "./runs/run-control.ts";
import type { Controlled } from "./runs/run-control.ts";
import { sideEvents } from "./runs/side-events.ts";
import type { RunSummary } from "./runs/run-summary.ts";

export interface Gateway {
  readonly intake: IntentIntake;
  readonly evidence: EvidenceReader;
  readonly deadLetters: DeadLetterDesk;
  readonly journal: JournalDesk;
  records(runId: string): Promise<StoredRecord[]>;
  view(runId: string): Promise<RunViewModel>;
  /** Newest first. */
  runs(limit: number): Promise<RunSummary[]>;
  say(runId: string, body: unknown, principal: string): Promise<Record<string, unknown>>;
  control(
    runId: string,
    kind: ControlBody["kind"],
    request: { body: unknown; principal: string },
  ): Promise<Controlled>;
  /** The run that tries a failed one again: the same one, however often it is asked for. */
  retry(runId: string, caller: Caller): Promise<{ runId: string; replayed: boolean }>;
  /** Puts the records of an archived run back into the journal. */
  restore(runId: string, principal: string): Promise<RestoredRun>;
  /** Makes what people look at of a run again from the journal. */
  rebuild(runId: string): Promise<RebuiltRun>;
  readonly sessions: CommandSessions;
  readonly policy: PolicyDesk;
  record(body: unknown): Promise<{ replayKey: string }>;
}

export function openGateway(
  backend: Backend,
  store: SessionStore,
  newRunId: () => string,
  options: IntakeOptions = {},
): Gateway {
  const list = new RunList(backend);
  const records = async (runId: string): Promise<StoredRecord[]> => {
    const found = await backend.read(runId);
    if (found.length === 0) throw new AntiphonError("ANT_RUN_NOT_FOUND", `there is no run ${runId}`);
    return found;
  };
  const guard = new PolicyGuard({ policies: () => store.policies(), now: Date.now });
  const intake = intentIntake(backend, guard, newRunId, options);
  return {
    intake,
    retry: async (runId, caller) => intake.retry(await records(runId), caller),
    async restore(runId, principal) {
      await guard.admitCall(principal);
      return backend.restore(runId, principal);
    },
    rebuild: (runId) => backend.rebuild(runId),
    sessions: new CommandSessions({ store, intake, guard, backend, now: Date.now }),
    evidence: evidenceReader(backend, records),
    deadLetters: deadLetterDesk(backend, guard),
    journal: journalDesk(backend),
    policy: new PolicyDesk(backend, guard),
    records,
    view: async (runId) => runView(await records(runId)),
    runs: (limit) => list.newest(limit),
    say: sideEvents(backend, records),
    control: runControl(backend, records),
    record: (body) => storeRecording(backend, body),
  };
}
