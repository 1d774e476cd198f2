/**
 * Has an environment prepared before an attempt is dispatched, so that no attempt's time is spent on it and a setup that
 * fails is not an attempt. This process remembers prepared environments for a while; a sandbox-runner that has lost one
 * prepares it again by itself.
 */
import { LRUCache } from "lru-cache";
import {
  AntiphonError,
  isErrorCode,
  limits,
  sha256Hex,
  type EnvironmentSpec,
  type SandboxOutcome,
} from "@antiphon/contracts";
import { uniqueId, type SandboxClient } from "@antiphon/runtime";
import { EnvironmentFailed } from "./environment-failed.ts";

export interface PreparationOrder {
  readonly run: string;
  readonly task: string;
  readonly epoch: number;
  readonly image: string | null;
  readonly spec: EnvironmentSpec;
  /** A person asked to try again what failed before. */
  readonly again: boolean;
}

const REMEMBERED = 1024;
const REMEMBERED_MS = 600_000;

export class EnvironmentPreparation {
  readonly #sandbox: SandboxClient;
  readonly #ready = new LRUCache<string, true>({ max: REMEMBERED, ttl: REMEMBERED_MS });

  constructor(sandbox: SandboxClient) {
    this.#sandbox = sandbox;
  }

  /** @throws EnvironmentFailed, or the fault of the machine */
  async prepare(order: PreparationOrder, signal: AbortSignal): Promise<void> {
    const { run, task, epoch, image, spec, again } = order;
    const key = sha256Hex(JSON.stringify([image, spec]));
    if (this.#ready.has(key)) return;
    const outcome = await this.#sandbox.run(
      {
        ...{ jobId: `job_${uniqueId()}`, run, task, epoch, purpose: "prepare", image },
        budgetMs: limits.environmentBudgetMs,
        workspace: { tree: null, files: [], overlay: null, deletions: [], environment: spec },
        steps: [],
        collect: false,
        ...(again ? { again } : {}),
      },
      { signal },
    );
    if (outcome.outcome !== "completed") throw failureOf(outcome, signal);
    this.#ready.set(key, true);
  }
}

/** The error of a job without an environment, whether it only prepares one or needs one. */
export function failureOf(outcome: SandboxOutcome, signal: AbortSignal): AntiphonError {
  if (outcome.code === "ANT_ENVIRONMENT_FAILED")
    return new EnvironmentFailed(outcome.message, outcome.environment ?? null);
  // An object of the job was removed meanwhile. The Director stores it again when it tries the effect again.
  if (outcome.code === "ANT_BLOB_MISSING") return new AntiphonError("ANT_SANDBOX_FAILED", outcome.message);
  if (outcome.outcome === "canceled" && !signal.aborted)
    return new AntiphonError("ANT_SANDBOX_FAILED", `the runner gave up: ${outcome.message}`);
  return new AntiphonError(isErrorCode(outcome.code) ? outcome.code : "ANT_SANDBOX_FAILED", outcome.message);
}
