// Takes intents in and starts runs of them. Invariants: see service.ts.
import { AntiphonError, encode, intentIdOf, limits, sha256Hex, validate } from "@antiphon/contracts";
import type { Intent, IntentBody, NewRecord, StoredRecord } from "@antiphon/contracts";
import type { AppendResult } from "@antiphon/runtime";
import { malformed } from "./core/malformed.ts";
import { retryIdOf, retryable } from "./core/retry.ts";
import { runOptionsOf } from "./core/run-options.ts";
import type { Backend, Place } from "./ports.ts";

export interface RunRequest {
  /** The Idempotency-Key, or null: every request is a new run. */
  readonly key: string | null;
  readonly principal: string;
  readonly body: unknown;
}

export interface Started {
  readonly runId: string;
  readonly replayed: boolean;
}

export interface IntentIntake {
  create(body: unknown, principal: string): Promise<{ intentId: string; created: boolean }>;
  get(intentId: string): Promise<{ intentId: string; intent: Intent }>;
  run(intentId: string, request: RunRequest): Promise<Started>;
  /** `records`: those of the run that is tried again. */
  retry(records: readonly StoredRecord[], principal: string): Promise<Started>;
}

/** What a journal record holds besides its body: envelope and headers. */
const ENVELOPE_BYTES = 1024;

export function intentIntake(
  backend: Backend,
  newRunId: () => string,
  inspect: Backend["inspect"] = (request) => backend.inspect(request),
): IntentIntake {
  async function get(intentId: string): Promise<{ intentId: string; intent: Intent }> {
    const document = (await backend.intent(intentId)) as { intent: Intent } | null;
    if (document === null) throw new AntiphonError("ANT_INTENT_NOT_FOUND", `there is no intent ${intentId}`);
    return { intentId, intent: document.intent };
  }

  async function start(runId: string, order: Order): Promise<Started> {
    const { intentId, intent, principal, retryOf } = order;
    await backend.admit();
    const asked = runOptionsOf(intent);
    const { repo, base_ref, land_on, allow_dirty } = asked;
    const place = await backend.admitRun(); // A5
    try {
      const { base, image, image_note } = await inspect({
        repo,
        allow_dirty,
        image_named: asked.image !== undefined,
        ...(base_ref === undefined ? {} : { base_ref }),
        ...(land_on === undefined ? {} : { land_on }),
      });
      // From here on the run says which image it is, whatever the repository says later.
      const named = image === null ? asked : { ...asked, image: image.ref };
      const options = image_note === undefined ? named : { ...named, image_note };
      const link = retryOf === undefined ? {} : { retry_of: retryOf };
      const record = intentRecord(runId, { intentId, intent, options, base, principal, ...link });
      const outcome = await appended(record, place); // G2
      if (outcome.kind !== "conflict") return { runId, replayed: false };
      return sameRun(outcome.existing, intentId);
    } finally {
      place.release(); // Where it was not stored.
    }
  }

  async function appended(record: NewRecord, place: Place): Promise<AppendResult> {
    try {
      const outcome = await backend.append(record);
      if (outcome.kind !== "conflict") place.stored();
      return outcome;
    } catch (error) {
      place.stored(); // Perhaps it is: then it counts until the next look at the journal, which knows.
      throw error;
    }
  }

  return {
    async create(body, principal) {
      if (body === undefined) {
        throw new AntiphonError("ANT_INTENT_INVALID", "the request has no body", { data: { path: "" } });
      }
      const outcome = validate("Intent", body);
      if (!outcome.ok) throw malformed("ANT_INTENT_INVALID", outcome.errors); // G1
      await backend.admit();
      const intentId = intentIdOf(outcome.value, principal);
      return {
        intentId,
        created: await backend.createIntent(intentId, { intent: outcome.value, principal }),
      };
    },
    get,
    async run(intentId, { key, principal, body }) {
      refuseBody(body);
      const { intent } = await get(intentId);
      const runId = key === null ? newRunId() : runIdOf(key, principal);
      const before = key === null ? null : await backend.intentRecord(runId);
      if (before !== null) return sameRun(before, intentId); // G3
      return start(runId, { intentId, intent, principal });
    },
    async retry(records, principal) {
      const { runId: retryOf, intentId } = retryable(records);
      const runId = retryIdOf(retryOf);
      const before = await backend.intentRecord(runId);
      if (before !== null) return sameRun(before, intentId); // G3
      const { intent } = await get(intentId);
      return start(runId, { intentId, intent, principal, retryOf });
    },
  };
}

interface Order {
  readonly intentId: string;
  readonly intent: Intent;
  readonly principal: string;
  readonly retryOf?: string;
}

function refuseBody(body: unknown): void {
  if (body === undefined || body === null || Object.keys(body).length === 0) return;
  const message = "this request takes no body: options are part of the intent, in inputs and constraints";
  throw new AntiphonError("ANT_INTENT_OPTIONS", message, { data: { path: "" } });
}

/** The run that already stands under an id; another intent under it is a misuse of the key (G3). */
function sameRun(existing: StoredRecord, intentId: string): { runId: string; replayed: boolean } {
  if (existing.type === "intent" && existing.body.intentId === intentId) {
    return { runId: existing.runId, replayed: true };
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

/** The record says each option once: the intent's own copy of agent and tasks stays in ANT_INTENTS. */
function intentRecord(runId: string, body: IntentBody): NewRecord {
  const { agent: _agent, tasks: _tasks, ...inputs } = body.intent.inputs;
  const slim = { ...body, intent: { ...body.intent, inputs } };
  const record: NewRecord = { type: "intent", runId, taskId: null, epoch: 0, cause: null, body: slim };
  const bytes = encode(record).length + ENVELOPE_BYTES;
  if (bytes <= limits.messageBytes) return record;
  const message = `the intent takes ${bytes} bytes in the journal, which keeps at most ${limits.messageBytes}; split it into tasks or runs`;
  throw new AntiphonError("ANT_CONTRACT_LIMIT", message, {
    data: { path: "/inputs", bytes, limit: limits.messageBytes },
  });
}
