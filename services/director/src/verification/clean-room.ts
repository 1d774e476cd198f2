/**
 * The clean room over the sandbox-runner: one fresh sandbox with the tree, the candidate's files and the checks, and
 * without a network.
 */
import type { OutputRef, SandboxEvent, SandboxOutcome, SandboxStepOutcome } from "@antiphon/contracts";
import { uniqueId, type Blobs, type SandboxClient } from "@antiphon/runtime";
import { overlayTar } from "@antiphon/git";
import {
  INTEGRATION,
  type CleanRoomPort,
  type EnvironmentPort,
  type RoomNews,
  type RoomOutcome,
  type RoomRequest,
} from "../ports.ts";
import { outcomeOf } from "./room-outcome.ts";
import { checkOf, isPrepared, stepsOf } from "./room-steps.ts";
import { readTestReport, type TestReport } from "./reports/test-report.ts";

export class CleanRoom implements CleanRoomPort {
  readonly #sandbox: SandboxClient;
  readonly #files: Blobs;
  readonly #environments: Pick<EnvironmentPort, "specFor"> | null;

  constructor(
    sandbox: SandboxClient,
    files: Blobs,
    environments: Pick<EnvironmentPort, "specFor"> | null = null,
  ) {
    this.#sandbox = sandbox;
    this.#files = files;
    this.#environments = environments;
  }

  async check(request: RoomRequest, signal: AbortSignal): Promise<RoomOutcome> {
    const { candidate, checks, budgetMs, setup, tree } = request;
    const { memory_mib, services } = request.room ?? {};
    const environment =
      setup === undefined ? null : ((await this.#environments?.specFor(setup, tree, candidate)) ?? null);
    const overlay = candidate === null ? null : overlayTar(candidate.overlay);
    const outcome = await this.#sandbox.run(
      {
        jobId: `job_${uniqueId()}`,
        run: request.run,
        task: request.task ?? INTEGRATION,
        epoch: request.epoch,
        purpose: request.purpose,
        image: request.image,
        budgetMs,
        workspace: {
          tree: tree.object,
          ...(tree.linked === undefined ? {} : { linked: tree.linked }),
          ...(request.history === null ? {} : { git: request.history.object }),
          files: [],
          overlay: overlay === null ? null : await this.#files.put(null, overlay),
          deletions: candidate?.deletions ?? [],
          ...(environment === null ? {} : { environment }),
        },
        steps: stepsOf(request),
        collect: false,
        ...(request.again === true ? { again: true } : {}),
        ...(memory_mib === undefined ? {} : { limits: { memoryBytes: memory_mib * 1024 * 1024 } }),
        ...(isPrepared(request) ? {} : { trials: request.trials }),
        ...(request.ahead === true ? { tracedTree: true, spare: true } : {}),
        ...(request.traced === undefined ? {} : { traced: [...request.traced] }),
        ...(services === undefined ? {} : { services }),
      },
      {
        signal,
        ...(request.ahead === true ? { patienceMs: 0 } : {}),
        ...(request.news === undefined ? {} : { onEvent: telling(request.news) }),
      },
    );
    if (isPrepared(request)) return this.#prepared(outcome, checks, signal);
    return { ...outcomeOf(outcome, checks, signal), reports: await this.#reports(outcome.steps) };
  }

  /**
   * The first step prepared the workspace. Without trials if it failed, or if the sandbox met a limit, which a second copy of
   * the tree may explain.
   */
  async #prepared(
    outcome: SandboxOutcome,
    checks: readonly string[],
    signal: AbortSignal,
  ): Promise<RoomOutcome> {
    const [first, ...steps] = outcome.steps;
    const found = outcomeOf({ ...outcome, steps }, checks, signal);
    if (first?.exitCode !== 0 || outcome.outcome !== "completed") return { ...found, trials: [] };
    return { ...found, reports: await this.#reports(steps) };
  }

  /** Only output that is longer than its tail in the message has to be fetched. */
  #reports(steps: readonly SandboxStepOutcome[]): Promise<TestReport[]> {
    return Promise.all(
      steps.map(async ({ stdout, stderr }) => {
        const texts = await Promise.all([this.#text(stdout), this.#text(stderr)]);
        return readTestReport(texts.join("\n"), !stdout.truncated && !stderr.truncated);
      }),
    );
  }

  async #text({ blob, bytes, tail }: OutputRef): Promise<string> {
    if (blob === null || Buffer.byteLength(tail) >= bytes) return tail;
    return (await this.#files.get(blob)).toString("utf8");
  }
}

function telling(news: RoomNews): (event: SandboxEvent) => void {
  return (event) => {
    if ("ok" in event) return;
    if (event.kind === "started") return news.started();
    if (event.kind !== "step") return;
    const check = checkOf(event.id);
    if (check !== null) news.ended(check, event.exitCode);
  };
}
