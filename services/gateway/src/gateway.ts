// The gateway's use cases: they turn the content of a request into records and back, without HTTP or NATS. Every way
// to start a run asks the policy first (policy-guard.ts). An answer or approval is recorded once, for the attempt that
// waits for it; a finished run takes none.
//
// Promises:
//   gateway/G1 Because every check runs before the first write, a request that is refused writes nothing.
//   gateway/G2 Because a run's id is derived from its Idempotency-Key, and answered only after the journal has
//     acknowledged the run's `intent` record, a run that a caller knows survives every crash, a repeated request starts
//     no second run, and the same key with another intent is refused.
import { AntiphonError } from "@antiphon/contracts";
import { factsOf, runView, type RunFacts } from "@antiphon/run";
import type { ControlBody, RebuiltRun, RunViewModel, StoredRecord } from "@antiphon/contracts";
import { checkController } from "./checks/check-controller.ts";
import type { CheckController } from "./checks/check-controller.ts";
import { replayController } from "./replays/replay-controller.ts";
import type { ReplayController } from "./replays/replay-controller.ts";
import { deadLetterController } from "./journal/dead-letters.ts";
import type { DeadLetterController } from "./journal/dead-letters.ts";
import type { RestoredRun, RunCursor } from "@antiphon/runtime";
import type { CommandSessions } from "./sessions/command-sessions.ts";
import { NO_ADAPTERS, type SessionAdapters } from "./sessions/adapter-settings.ts";
import { openSessions } from "./sessions/open-sessions.ts";
import type { SessionStore } from "./sessions/session-register.ts";
import { evidenceReader } from "./evidence/evidence-reader.ts";
import type { EvidenceReader } from "./evidence/evidence-reader.ts";
import { journalController } from "./journal/journal-controller.ts";
import type { JournalController } from "./journal/journal-controller.ts";
import { intentIntake, type IntakeOptions } from "./intents/intent-intake.ts";
import type { IntentIntake, Started } from "./intents/intent-intake.ts";
import { operationsController } from "./operations/operations-controller.ts";
import type { Operations } from "./operations/operations-controller.ts";
import { PolicyController } from "./policy/policy-controller.ts";
import { simulatePolicy, type SimulatedRun } from "./policy/policy-simulation.ts";
import { approvalGuard } from "./policy/approval-guard.ts";
import { unprovenGuard } from "./policy/unproven-guard.ts";
import { PolicyGuard } from "./policy/policy-guard.ts";
import { RunAdmission } from "./intents/run-admission.ts";
import type { Caller } from "./intents/run-admission.ts";
import type { Backend } from "./ports.ts";
import { storeRecording } from "./intents/recording.ts";
import { RunList, type ListedRuns } from "./runs/run-list.ts";
import { runControl } from "./runs/run-control.ts";
import type { Controlled } from "./runs/run-control.ts";
import { sideEvents } from "./runs/side-events.ts";

export interface Gateway {
  readonly intake: IntentIntake;
  readonly checks: CheckController;
  readonly replays: ReplayController;
  readonly evidence: EvidenceReader;
  readonly deadLetters: DeadLetterController;
  readonly journal: JournalController;
  records(runId: string): Promise<StoredRecord[]>;
  facts(runId: string): Promise<RunFacts>;
  view(runId: string): Promise<RunViewModel>;
  /** Newest first. */
  runs(limit: number, cursor: RunCursor | null): Promise<ListedRuns>;
  say(runId: string, body: unknown, principal: string): Promise<Record<string, unknown>>;
  control(
    runId: string,
    kind: ControlBody["kind"],
    request: { body: unknown; principal: string },
  ): Promise<Controlled>;
  /** Retries a failed run as a new run; repeated requests return the same new run. */
  retry(runId: string, caller: Caller): Promise<Started>;
  /** Puts the records of an archived run back into the journal. */
  restore(runId: string, principal: string): Promise<RestoredRun>;
  /** Rebuilds a run's documents from the journal. */
  rebuild(runId: string): Promise<RebuiltRun>;
  readonly sessions: CommandSessions;
  readonly policy: PolicyController;
  readonly operations: Operations;
  /** Which runs on record a policy would refuse. */
  simulate(body: unknown): Promise<{ runs: SimulatedRun[] }>;
  record(body: unknown): Promise<{ replayKey: string }>;
}

export interface GatewayOptions extends IntakeOptions {
  /** The work of a session ended early. Default: it is not told. */
  readonly onFault?: (error: AntiphonError, sessionId: string) => void;
  readonly adapters?: SessionAdapters;
  /** The clock of command sessions. */
  readonly now?: () => number;
}

const ignored = (): void => undefined;

export function openGateway(
  backend: Backend,
  store: SessionStore,
  newRunId: () => string,
  options: GatewayOptions = {},
): Gateway {
  const list = new RunList(backend);
  const records = async (runId: string): Promise<StoredRecord[]> => {
    const found = await backend.read(runId);
    if (found.length === 0) throw new AntiphonError("ANT_RUN_NOT_FOUND", `there is no run ${runId}`);
    return found;
  };
  const facts = async (runId: string): Promise<RunFacts> => factsOf(await records(runId));
  const guard = new PolicyGuard({ policies: () => store.policies(), now: Date.now });
  const intake = intentIntake(backend, guard, newRunId, options);
  const inspect: Backend["inspect"] = options.inspect ?? ((request) => backend.inspect(request));
  return {
    intake,
    checks: checkController(backend, new RunAdmission(backend, guard, inspect)),
    replays: replayController(backend, guard, records),
    retry: async (runId, caller) => intake.retry(await facts(runId), caller),
    async restore(runId, principal) {
      await guard.admitCall(principal);
      return backend.restore(runId, principal);
    },
    rebuild: (runId) => backend.rebuild(runId),
    sessions: openSessions({
      ...{ store, guard, backend, inspect },
      adapters: options.adapters ?? NO_ADAPTERS,
      now: options.now ?? Date.now,
      onFault: options.onFault ?? ignored,
    }),
    evidence: evidenceReader(backend, facts),
    deadLetters: deadLetterController(backend, guard),
    journal: journalController(backend),
    policy: new PolicyController(backend, guard),
    operations: operationsController(backend, options.packFolders ?? []),
    simulate: (body) => simulatePolicy(guard, backend, facts, body),
    records,
    facts,
    view: async (runId) => runView(await facts(runId)),
    runs: (limit, cursor) => list.page(limit, cursor),
    say: sideEvents(backend, records, {
      mayApprove: approvalGuard(backend, guard),
      mayTakeUnproven: unprovenGuard(backend, guard),
    }),
    control: runControl(backend, facts),
    record: (body) => storeRecording(backend, body),
  };
}
