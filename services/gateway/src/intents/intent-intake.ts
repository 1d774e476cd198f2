// Stores intents and starts runs of them.
import {
  AntiphonError,
  encode,
  INHERITED_BUDGETS,
  intentIdOf,
  limits,
  sha256Hex,
  validate,
} from "@antiphon/contracts";
import type { Intent, IntentBody, NarrowedBudget, NewRecord, StoredRecord } from "@antiphon/contracts";
import { provenBy, type RunFacts } from "@antiphon/run";
import type { AppendResult } from "@antiphon/runtime";
import { checkApprovers } from "./approvers.ts";
import { withTenant } from "../identity/tenant.ts";
import { checkConnectors } from "./connector-choice.ts";
import { givenPlan } from "./given-plan.ts";
import { malformed } from "../http/malformed.ts";
import { retryIdOf, retryable, withAnswersOf, withoutRace } from "./retry.ts";
import { RunTraces } from "./run-trace.ts";
import { runOptionsOf } from "./run-options.ts";
import { narrowedBudgets } from "../policy/narrowed-budgets.ts";
import type { PolicyGuard } from "../policy/policy-guard.ts";
import type { Backend, Place } from "../ports.ts";
import { RunAdmission, speaker } from "./run-admission.ts";
import type { Caller } from "./run-admission.ts";
import { requireOwnIntent } from "../sessions/session-binding.ts";
import type { SessionBinding } from "../sessions/session-binding.ts";

export interface RunRequest extends Caller {
  /** The Idempotency-Key. Null: every request starts a new run. */
  readonly key: string | null;
  readonly body: unknown;
}

export interface Started {
  readonly runId: string;
  readonly replayed: boolean;
  /** Budgets of the run that it retries or forks, of which the policy allows less by now. */
  readonly narrowed: readonly NarrowedBudget[];
}

export interface IntentIntake {
  create(body: unknown, caller: Caller): Promise<{ intentId: string; created: boolean }>;
  get(intentId: string, session: SessionBinding | null): Promise<{ intentId: string; intent: Intent }>;
  run(intentId: string, request: RunRequest): Promise<Started>;
  /** `records`: the records of the run to retry. */
  retry(facts: RunFacts, caller: Caller): Promise<Started>;
}

/** The size of a journal record besides its body: envelope and headers. */
const ENVELOPE_BYTES = 1024;

/** `people`: the names with tokens of their own. `inspect`: inspects a repository; default: the backend's. */
export interface IntakeOptions {
  readonly people?: readonly string[] | "unknown";
  readonly inspect?: Backend["inspect"];
  readonly traces?: RunTraces;
  /** Folders with agent packs. Default: none. */
  readonly packFolders?: readonly string[];
}

export function intentIntake(
  backend: Backend,
  guard: PolicyGuard,
  newRunId: () => string,
  {
    people = [],
    inspect = (request) => backend.inspect(request),
    traces = new RunTraces(),
    packFolders = [],
  }: IntakeOptions = {},
): IntentIntake {
  const admission = new RunAdmission(backend, guard, inspect, packFolders);

  async function get(intentId: string, session: SessionBinding | null): Promise<Stored> {
    const document = (await backend.intent(intentId)) as { intent: Intent; principal: string } | null;
    if (document === null) throw new AntiphonError("ANT_INTENT_NOT_FOUND", `there is no intent ${intentId}`);
    if (session !== null) requireOwnIntent(session, intentId, document.principal);
    return { intentId, intent: document.intent };
  }

  const start = (runId: string, order: Order): Promise<Started> =>
    traces.started(runId, order.caller.traceparent, (traceparent) => startIn(traceparent, runId, order));

  async function startIn(traceparent: string | undefined, runId: string, order: Order): Promise<Started> {
    const { intentId, intent, caller, retryOf, retried } = order;
    await backend.admit();
    const named = runOptionsOf(intent);
    const asked = retried === undefined ? named : withAnswersOf(named, retried);
    const principal = speaker(caller);
    const before = retried === undefined ? [] : provenBy(retried);
    if (people !== "unknown") checkApprovers(asked, [principal, ...before], people);
    const place = await backend.admitRun(); // gateway/G7
    try {
      // A retry states no budget: all are those of the run that it retries.
      const inherited = retried === undefined ? [] : INHERITED_BUDGETS;
      const { provenBy: forked, ...admitted } = await admission.run(intent, asked, caller, inherited);
      const narrowed = narrowedBudgets(intent, asked, admitted.options);
      const askedBy = [...new Set([...before, ...forked])];
      if (people !== "unknown") checkApprovers(asked, [principal, ...askedBy], people, admitted.policy);
      const link = retryOf === undefined ? {} : { retry_of: retryOf };
      const answered = askedBy.length === 0 ? {} : { asked_by: askedBy };
      const less = narrowed.length === 0 ? {} : { narrowed };
      const body = { intentId, intent, ...admitted, principal, ...link, ...answered, ...less };
      const outcome = await appended(backend, intentRecord(runId, body), place, traceparent); // gateway/G2
      if (outcome.kind !== "conflict") return { runId, replayed: false, narrowed };
      return sameRun(outcome.existing, intentId);
    } finally {
      place.release(); // No effect if the run was stored.
    }
  }

  return {
    async create(body, caller) {
      if (body === undefined) {
        throw new AntiphonError("ANT_INTENT_INVALID", "the request has no body", { data: { path: "" } });
      }
      const outcome = validate("Intent", body);
      if (!outcome.ok) throw malformed("ANT_INTENT_INVALID", outcome.errors); // gateway/G1
      const intent = withTenant(outcome.value, caller.tenancy ?? { kind: "free" });
      givenPlan(intent); // gateway/G1
      checkConnectors(intent); // gateway/G1
      await admission.call(caller);
      await admission.intent(intent, caller); // gateway/G1
      if (intent.connectors !== undefined) await admission.connectors(intent); // gateway/G1
      await backend.admit();
      const principal = speaker(caller);
      const intentId = intentIdOf(intent, principal);
      return { intentId, created: await backend.createIntent(intentId, { intent, principal }) };
    },
    get,
    async run(intentId, { key, body, ...caller }) {
      refuseBody(body);
      await admission.call(caller);
      const { intent } = await get(intentId, caller.session);
      const runId = key === null ? newRunId() : runIdOf(key, speaker(caller));
      const before = key === null ? null : await backend.intentRecord(runId);
      if (before !== null) return sameRun(before, intentId); // gateway/G2
      return start(runId, { intentId, intent, caller });
    },
    async retry(facts, caller) {
      const { runId: retryOf, intentId } = retryable(facts);
      await admission.call(caller);
      const runId = retryIdOf(retryOf);
      const before = await backend.intentRecord(runId);
      if (before !== null) return sameRun(before, intentId); // gateway/G2
      const { intent } = await get(intentId, null);
      return start(runId, { intentId, intent: withoutRace(intent), caller, retryOf, retried: facts });
    },
  };
}

async function appended(
  backend: Backend,
  record: NewRecord,
  place: Place,
  traceparent?: string,
): Promise<AppendResult> {
  try {
    const outcome = await backend.append(record, traceparent);
    if (outcome.kind !== "conflict") place.stored();
    return outcome;
  } catch (error) {
    place.stored(); // The record may be stored; it counts until the journal is counted again.
    throw error;
  }
}

interface Stored {
  readonly intentId: string;
  readonly intent: Intent;
}

interface Order extends Stored {
  readonly caller: Caller;
  readonly retryOf?: string;
  /** The run that is retried. */
  readonly retried?: RunFacts;
}

function refuseBody(body: unknown): void {
  if (body === undefined || body === null || Object.keys(body).length === 0) return;
  const message = "this request takes no body: options are part of the intent, in inputs and constraints";
  throw new AntiphonError("ANT_INTENT_OPTIONS", message, { data: { path: "" } });
}

/** gateway/G2: the run that already has this id; if its intent is another one, the key was misused. */
function sameRun(existing: StoredRecord, intentId: string): Started {
  if (existing.type === "intent" && existing.body.intentId === intentId) {
    return { runId: existing.runId, replayed: true, narrowed: existing.body.narrowed ?? [] };
  }
  throw new AntiphonError(
    "ANT_GATEWAY_IDEMPOTENCY",
    "this Idempotency-Key has started a run of another intent",
    {
      data: { runId: existing.runId },
    },
  );
}

function runIdOf(key: string, principal: string): string {
  return `run_${sha256Hex(JSON.stringify([principal, key])).slice(0, 20)}`;
}

/** The record contains each option once: the intent's own copy of agent and tasks stays in ANT_INTENTS. */
function intentRecord(runId: string, body: IntentBody): NewRecord {
  const { agent: _agent, tasks: _tasks, plan: _plan, ...inputs } = body.intent.inputs;
  const slim = { ...body, intent: { ...body.intent, inputs } };
  const record: NewRecord = { type: "intent", runId, taskId: null, epoch: 0, cause: null, body: slim };
  const bytes = encode(record).length + ENVELOPE_BYTES;
  if (bytes <= limits.messageBytes) return record;
  const message = `the intent takes ${bytes} bytes in the journal, which keeps at most ${limits.messageBytes}; split it into tasks or runs`;
  throw new AntiphonError("ANT_CONTRACT_LIMIT", message, {
    data: { path: "/inputs", bytes, limit: limits.messageBytes },
  });
}
