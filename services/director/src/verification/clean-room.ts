/**
 * The clean room over the sandbox-runner: one fresh sandbox with the tree, the candidate's files and the checks, and
 * without a network.
 */
import {
  AntiphonError,
  isErrorCode,
  type CheckOutcome,
  type OutputRef,
  type SandboxEvent,
  type SandboxOutcome,
  type SandboxStep,
  type SandboxStepOutcome,
} from "@antiphon/contracts";
import { uniqueId, type Blobs, type SandboxClient } from "@antiphon/runtime";
import { overlayTar } from "@antiphon/git";
import { failureOf } from "../environments/preparation.ts";
import {
  INTEGRATION,
  type CleanRoomPort,
  type EnvironmentPort,
  type RoomNews,
  type RoomOutcome,
  type RoomRequest,
} from "../ports.ts";
import { readTestReport, type TestReport } from "./reports/test-report.ts";

const TAIL_CHARS = 2048;

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
    return { ...outcomesOf(outcome, checks, signal), reports: await this.#reports(outcome.steps) };
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
    const found = outcomesOf({ ...outcome, steps }, checks, signal);
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
    const [, number] = /^check-(\d+)$/.exec(event.id) ?? [];
    if (number !== undefined) news.ended(Number(number) - 1, event.exitCode);
  };
}

const isPrepared = ({ elsewhere, emptied }: RoomRequest): boolean =>
  elsewhere !== undefined || emptied === true;

const EMPTY = 'for one in * .[!.]* ..?*; do [ "$one" = .git ] || rm -rf -- "./$one" || exit 1; done';

/** The tree is moved before the checks, by a step whose exit no check can forge. */
const MOVE =
  'mkdir -p "$1" "$1/../home" && cp -a /workspace/. "$1/" && rm -rf /workspace/* /workspace/.[!.]* /workspace/..?*';

/** A shell remembers where it came from. */
const LEAVE = 'cd "$0" && unset OLDPWD && exec sh -c "$1"';

function stepsOf({ checks, budgetMs, room, elsewhere, emptied }: RoomRequest): SandboxStep[] {
  const step = (id: string, argv: string[], env: Record<string, string> = {}): SandboxStep => ({
    ...{
      id,
      argv,
      env: { ...room?.env, ...env },
      timeoutMs: budgetMs,
      continueOnFailure: id !== "prepare",
    },
  });
  const plain = checks.map((command, i) => step(`check-${i + 1}`, ["sh", "-c", command]));
  if (emptied === true) return [step("prepare", ["sh", "-c", EMPTY]), ...plain];
  if (elsewhere === undefined) return plain;
  const env = { HOME: `${elsewhere.slice(0, elsewhere.lastIndexOf("/"))}/home` };
  return [
    step("prepare", ["sh", "-c", MOVE, "antiphon", elsewhere]),
    ...checks.map((command, i) => step(`check-${i + 1}`, ["sh", "-c", LEAVE, elsewhere, command], env)),
  ];
}

/**
 * A sandbox that ran tells about the change. One that broke, or that was stopped by this Director or by its runner,
 * tells nothing about it: that throws, and the verification is tried again.
 */
function outcomesOf(outcome: SandboxOutcome, checks: readonly string[], signal: AbortSignal): RoomOutcome {
  switch (outcome.outcome) {
    case "completed":
    case "timeout":
    case "oom":
      return {
        trials: [outcome.steps, ...(outcome.trials ?? [])].map((steps) =>
          checks.map((command, i) => checkOutcome(command, outcome, steps[i])),
        ),
        written: outcome.written ?? null,
        image: outcome.meta.image,
        ...(outcome.services === undefined ? {} : { services: outcome.services }),
        ...(outcome.environment === undefined ? {} : { environment: outcome.environment }),
      };
    case "canceled":
      if (signal.aborted) throw new AntiphonError("ANT_SANDBOX_CANCELED", outcome.message);
      throw new AntiphonError("ANT_SANDBOX_FAILED", `the runner gave up: ${outcome.message}`); // director/D4
    case "refused":
    case "error":
      if (outcome.code === "ANT_ENVIRONMENT_FAILED" || outcome.code === "ANT_BLOB_MISSING")
        throw failureOf(outcome, signal);
      throw new AntiphonError(isErrorCode(outcome.code) ? outcome.code : "ANT_INTERNAL", outcome.message);
  }
}

function checkOutcome(
  command: string,
  outcome: SandboxOutcome,
  step: SandboxStepOutcome | undefined,
): CheckOutcome {
  if (step === undefined) {
    const tail = `not run: ${outcome.message}`;
    return {
      command,
      exitCode: null,
      timedOut: outcome.outcome === "timeout",
      durationMs: 0,
      stdout: null,
      stderr: null,
      tail,
    };
  }
  const { stdout, stderr, exitCode, timedOut, durationMs } = step;
  const tail = [stdout.tail, stderr.tail]
    .filter((text) => text !== "")
    .join("\n")
    .slice(-TAIL_CHARS);
  return { command, exitCode, timedOut, durationMs, stdout: stdout.blob, stderr: stderr.blob, tail };
}
