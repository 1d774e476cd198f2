// The gateway's use cases: from an HTTP request's content to records and back. Knows no HTTP and no NATS.
//
// Invariants:
//   G1  Nothing is written for a request that is refused.
//   G2  A run id is answered only after the journal has acknowledged its `intent` record (J5).
//   G3  The same Idempotency-Key starts the same run; with another intent it is refused.
//   G4  A side event is written to the attempt that waits for it, once; a run that is over takes none.
import {
  AntiphonError,
  encode,
  intentIdOf,
  keys,
  limits,
  replayKey,
  runView,
  sha256Hex,
  validate,
} from "@antiphon/contracts";
import type { Intent, IntentBody, NewRecord, Problem, RunViewModel, StoredRecord } from "@antiphon/contracts";
import { evidenceOf, fileIn } from "./core/evidence-index.ts";
import type { EvidenceBundle } from "./core/evidence-index.ts";
import { runOptionsOf } from "./core/run-options.ts";
import { runSummary } from "./core/run-summary.ts";
import type { RunSummary } from "./core/run-summary.ts";
import { inputBody, isOver, sideEventOf, waitingStep } from "./core/side-event.ts";
import type { Backend } from "./ports.ts";

export interface Gateway {
  createIntent(body: unknown, principal: string): Promise<{ intentId: string; created: boolean }>;
  intent(intentId: string): Promise<{ intentId: string; intent: Intent }>;
  run(
    intentId: string,
    request: { key: string | null; principal: string; body: unknown },
  ): Promise<{ runId: string; replayed: boolean }>;
  records(runId: string): Promise<StoredRecord[]>;
  view(runId: string): Promise<RunViewModel>;
  runs(limit: number): Promise<RunSummary[]>;
  say(runId: string, body: unknown, principal: string): Promise<Record<string, unknown>>;
  evidence(runId: string): Promise<{ bundles: EvidenceBundle[]; contracts: unknown[]; router: unknown }>;
  bundle(runId: string, at: EvidenceAddress): Promise<EvidenceBundle>;
  file(runId: string, at: EvidenceAddress, path: string): Promise<Buffer>;
  record(body: unknown): Promise<{ replayKey: string }>;
}

export interface EvidenceAddress {
  readonly task: string;
  readonly epoch: number;
  readonly kind: "attempt" | "verdict";
}

/** What a journal record may hold besides the body: envelope and headers. */
const ENVELOPE_BYTES = 1024;
const RUNS_READ_AT_ONCE = 16;

export function openGateway(backend: Backend, newRunId: () => string): Gateway {
  const summaries = new SummaryCache(backend);

  async function records(runId: string): Promise<StoredRecord[]> {
    const found = await backend.read(runId);
    if (found.length === 0) throw new AntiphonError("ANT_RUN_NOT_FOUND", `there is no run ${runId}`);
    return found;
  }

  async function intent(intentId: string): Promise<{ intentId: string; intent: Intent }> {
    const document = (await backend.intent(intentId)) as { intent: Intent } | null;
    if (document === null) throw new AntiphonError("ANT_INTENT_NOT_FOUND", `there is no intent ${intentId}`);
    return { intentId, intent: document.intent };
  }

  /** The run that already stands under an id; another intent under it is a misuse of the key (G3). */
  function sameRun(existing: StoredRecord, intentId: string): { runId: string; replayed: boolean } {
    if (existing.type === "intent" && existing.body.intentId === intentId)
      return { runId: existing.runId, replayed: true };
    throw new AntiphonError(
      "ANT_GATEWAY_IDEMPOTENCY",
      "this Idempotency-Key has started a run of another intent",
      { data: { runId: existing.runId } },
    );
  }

  async function evidence(runId: string): Promise<EvidenceBundle[]> {
    const refs = evidenceOf(await records(runId));
    const bundles = await Promise.all(
      refs.map(async (ref) => ({ ...ref, manifest: await backend.manifest(ref.key) })),
    );
    return bundles.flatMap((bundle) =>
      bundle.manifest === null ? [] : [{ ...bundle, manifest: bundle.manifest }],
    );
  }

  async function bundle(runId: string, at: EvidenceAddress): Promise<EvidenceBundle> {
    const refs = evidenceOf(await records(runId));
    const ref = refs.find(
      ({ taskId, epoch, kind }) =>
        taskId.toLowerCase() === at.task.toLowerCase() && epoch === at.epoch && kind === at.kind,
    );
    const manifest = ref === undefined ? null : await backend.manifest(ref.key);
    if (ref !== undefined && manifest !== null) return { ...ref, manifest };
    throw new AntiphonError(
      "ANT_EVIDENCE_NOT_FOUND",
      `${runId} has no ${at.kind} evidence of ${at.task} at epoch ${at.epoch}`,
    );
  }

  return {
    async createIntent(body, principal) {
      if (body === undefined)
        throw new AntiphonError("ANT_INTENT_INVALID", "the request has no body", { data: { path: "" } });
      const outcome = validate("Intent", body);
      if (!outcome.ok) throw malformed("ANT_INTENT_INVALID", outcome.errors); // G1
      const intentId = intentIdOf(outcome.value, principal);
      return {
        intentId,
        created: await backend.createIntent(intentId, { intent: outcome.value, principal }),
      };
    },
    intent,

    async run(intentId, { key, principal, body }) {
      if (body !== undefined && body !== null && Object.keys(body).length > 0) {
        throw new AntiphonError(
          "ANT_INTENT_OPTIONS",
          "this request takes no body: options are part of the intent, in inputs and constraints",
          { data: { path: "" } },
        );
      }
      const { intent: wanted } = await intent(intentId);
      const runId = key === null ? newRunId() : runIdOf(key, principal);
      const before = key === null ? null : await backend.intentRecord(runId);
      if (before !== null) return sameRun(before, intentId); // G3
      const options = runOptionsOf(wanted);
      const { repo, base_ref, land_on, allow_dirty } = options;
      const { base } = await backend.inspect({
        repo,
        allow_dirty,
        ...(base_ref === undefined ? {} : { base_ref }),
        ...(land_on === undefined ? {} : { land_on }),
      });
      const record = intentRecord(runId, { intentId, intent: wanted, options, base, principal });
      const outcome = await backend.append(record); // G2
      return outcome.kind === "conflict" ? sameRun(outcome.existing, intentId) : { runId, replayed: false };
    },

    records,
    view: async (runId) => runView(await records(runId)),
    runs: (limit) => summaries.newest(limit),

    async say(runId, body, principal) {
      const event = sideEventOf(body);
      const view = runView(await records(runId));
      if (isOver(view))
        throw new AntiphonError("ANT_RUN_TERMINAL", `${runId} is over: ${view.status}`, {
          data: { status: view.status },
        }); // G4
      if (event.kind === "cancel") {
        // A second cancel with other words is still the same wish.
        await backend.append({
          type: "cancel",
          runId,
          taskId: null,
          epoch: 0,
          cause: null,
          body: { by: principal, reason: event.reason },
        });
        backend.hintCancel(runId);
        return { runId, event: "cancel", accepted: true };
      }
      const step = waitingStep(view, event.task);
      const record: NewRecord = {
        type: "input",
        runId,
        taskId: step.id,
        epoch: step.epoch,
        cause: null,
        body: inputBody(event, principal),
      };
      const outcome = await backend.append(record);
      if (outcome.kind === "conflict")
        throw new AntiphonError("ANT_RUN_NOT_WAITING", `${step.id} has been answered already`, {
          data: { status: view.status },
        });
      return { runId, event: event.event, accepted: true, taskId: step.id, epoch: step.epoch };
    },

    async evidence(runId) {
      const bundles = await evidence(runId);
      const view = runView(await records(runId));
      const contracts = await Promise.all(view.steps.map((step) => backend.taskContract(runId, step.id)));
      return {
        bundles,
        contracts: contracts.filter((contract) => contract !== null),
        router: await backend.routerContract(runId),
      };
    },
    bundle,
    async file(runId, at, path) {
      const { manifest } = await bundle(runId, at);
      const blob = fileIn(manifest, path);
      if (blob === null) {
        const known = manifest.files.map((file) => file.path);
        throw new AntiphonError(
          "ANT_EVIDENCE_NOT_FOUND",
          `the bundle has no file ${JSON.stringify(path)}; it has ${known.join(", ")}`,
          { data: { files: known } },
        );
      }
      return backend.file(blob);
    },

    async record(body) {
      const { input, output, ...rest } = (body ?? {}) as Record<string, unknown>;
      const stranger = Object.keys(rest)[0];
      if (stranger !== undefined)
        throw malformed("ANT_CONTRACT_INVALID", [
          { path: `/${stranger}`, message: "unknown key", expected: "input, output", found: stranger },
        ]);
      const request = validate("OCCompileInput", input);
      if (!request.ok) throw malformed("ANT_CONTRACT_INVALID", request.errors, "/input");
      const response = validate("OCCompileOutput", output);
      if (!response.ok) throw malformed("ANT_CONTRACT_INVALID", response.errors, "/output");
      const key = replayKey(request.value);
      await backend.storeRecording(keys.recording(key), { input: request.value, output: response.value });
      return { replayKey: key };
    },
  };
}

function malformed(
  code: "ANT_INTENT_INVALID" | "ANT_CONTRACT_INVALID",
  problems: readonly Problem[],
  under = "",
): AntiphonError {
  const [problem] = problems;
  const path = `${under}${problem?.path ?? ""}`;
  const hint = problem?.hint === undefined ? "" : `; ${problem.hint}`;
  const where = path === "" ? "the document" : path;
  const message = `${where}: ${problem?.message ?? "not valid"}, found ${problem?.found ?? "something else"}${hint}`;
  return new AntiphonError(code, message, { data: { path, errors: problems } });
}

function runIdOf(key: string, principal: string): string {
  return `run_${sha256Hex(JSON.stringify([principal, key])).slice(0, 20)}`;
}

/** The record says each option once: the intent's own copy of agent and tasks stays in ANT_INTENTS. */
function intentRecord(runId: string, body: IntentBody): NewRecord {
  const { agent: _agent, tasks: _tasks, ...inputs } = body.intent.inputs;
  const record: NewRecord = {
    type: "intent",
    runId,
    taskId: null,
    epoch: 0,
    cause: null,
    body: { ...body, intent: { ...body.intent, inputs } },
  };
  const bytes = encode(record).length + ENVELOPE_BYTES;
  if (bytes <= limits.messageBytes) return record;
  throw new AntiphonError(
    "ANT_CONTRACT_LIMIT",
    `the intent takes ${bytes} bytes in the journal, which keeps at most ${limits.messageBytes}; split the patch into tasks or runs`,
    {
      data: { path: "/inputs", bytes, limit: limits.messageBytes },
    },
  );
}

/** Finished runs never change (J6), so their summaries are kept; bounded, oldest use first out. */
class SummaryCache {
  readonly #backend: Backend;
  readonly #over = new Map<string, RunSummary>();

  constructor(backend: Backend) {
    this.#backend = backend;
  }

  async newest(limit: number): Promise<RunSummary[]> {
    const ids = await this.#backend.runIds();
    const all: RunSummary[] = [];
    for (let i = 0; i < ids.length; i += RUNS_READ_AT_ONCE) {
      const page = await Promise.all(ids.slice(i, i + RUNS_READ_AT_ONCE).map((id) => this.#summary(id)));
      all.push(...page.filter((summary) => summary !== null));
    }
    return all.sort((a, b) => b.seq - a.seq).slice(0, limit);
  }

  async #summary(runId: string): Promise<RunSummary | null> {
    const known = this.#over.get(runId);
    if (known !== undefined) return known;
    const records = await this.#backend.read(runId);
    const summary = runSummary(records);
    if (summary !== null && records.at(-1)?.type === "closed") {
      const [oldest] = this.#over.keys();
      if (this.#over.size >= limits.openRuns && oldest !== undefined) this.#over.delete(oldest);
      this.#over.set(runId, summary);
    }
    return summary;
  }
}
