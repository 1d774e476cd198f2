/** How runs are started: by the gateway's own intake code over the journal, or by the gateway's process over HTTP. */
import { limits } from "@antiphon/contracts";
import { uniqueId } from "@antiphon/runtime";
import type { Bus, Logger } from "@antiphon/runtime";
import { natsBackend } from "../../services/gateway/src/backend/nats-backend.ts";
import { openSessionStore } from "../../services/gateway/src/sessions/session-store.ts";
import { intentIntake } from "../../services/gateway/src/intents/intent-intake.ts";
import { PolicyGuard } from "../../services/gateway/src/policy/policy-guard.ts";
import { INSPECTED, REPO } from "./in-process-ports.ts";
import type { LoadOptions } from "./options.ts";

/** Starts one run; resolves with its id when it is accepted. */
export type StartRun = () => Promise<string>;

export interface Project {
  readonly name: string;
  readonly path: string;
}

/** The intent of every run. A no-op is a review that finds nothing to run; `scripted` edits, checks and lands. */
export function intentOf(options: LoadOptions, project: Project | null): Record<string, unknown> {
  const noop = options.agent === "noop";
  const command = project === null ? "rm stale.txt" : "date +%s%N > made-$ANTIPHON_TASK_ID.txt";
  const tasks = Array.from({ length: options.steps }, (_, i) => ({
    id: i + 1,
    description: `Step ${i + 1}`,
    dependencies: i === 0 ? [] : [i],
  }));
  return {
    goal: noop ? "Review what is there" : "Take the stale file away",
    inputs: {
      repo: project ?? REPO,
      workflow: noop ? "REVIEW" : "BUILD",
      agent: { kind: "scripted", commands: noop ? [] : [command] },
      checks: noop ? [] : ["ls made-*.txt"],
      ...(options.steps === 1 ? {} : { tasks }),
    },
    constraints: noop ? { allow_unverified: true } : {},
  };
}

export async function throughJournal(bus: Bus, log: Logger, intent: unknown): Promise<StartRun> {
  const real = natsBackend(bus, log, { maxOpenRuns: limits.openRuns });
  const kept = new Map<string, unknown>();
  const store = openSessionStore(bus);
  const intake = intentIntake(
    {
      ...real,
      connected: true,
      createIntent: (intentId, document) => Promise.resolve(kept.set(intentId, document) === kept),
      intent: (intentId) => Promise.resolve(kept.get(intentId) ?? null),
      inspect: () => Promise.resolve(INSPECTED),
    },
    new PolicyGuard({ policies: () => store.policies(), now: Date.now }),
    () => `run_${uniqueId()}`,
  );
  const caller = { principal: "load", session: null };
  const { intentId } = await intake.create(intent, caller);
  return async () => (await intake.run(intentId, { ...caller, key: null, body: undefined })).runId;
}

export async function throughGateway(url: string, intent: unknown): Promise<StartRun> {
  const post = async (path: string, body?: unknown): Promise<Record<string, unknown>> => {
    const answer = await fetch(url + path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const document = (await answer.json()) as Record<string, unknown>;
    if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${JSON.stringify(document)}`);
    return document;
  };
  const { intentId } = await post("/intents", intent);
  return async () => String((await post(`/intents/${String(intentId)}/run`))["runId"]);
}
