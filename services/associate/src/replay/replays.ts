/**
 * Carries out recorded attempts once more: the same dispatch in a fresh sandbox, with the recorded answers of its model
 * calls, and without any other network. The commands and checks really run.
 *
 * A replay claims nothing and writes no record and no evidence manifest, so it cannot touch the run that it repeats. Its
 * sandbox has a name of its own. A replay ends at the task's time budget, or when its caller has gone away.
 */
import { AntiphonError, digestOf, limits } from "@antiphon/contracts";
import type {
  AttemptReplayEvent,
  AttemptReplayRequest,
  Digest,
  ErrorCode,
  ReplayReport,
} from "@antiphon/contracts";
import type { Journal } from "@antiphon/runtime";
import { withTreesAgain } from "../attempt/export-again.ts";
import { attempted } from "../attempt/work.ts";
import type { Artifact } from "../evidence/artifacts.ts";
import { proposed } from "../evidence/proposal.ts";
import type { AttemptPorts } from "../ports.ts";
import { compared } from "./comparison.ts";
import { recordedAttempt } from "./recorded-attempt.ts";

/** No sandbox can be made of the image, so there is nothing to compare. */
const IMAGE_FAULTS: ReadonlySet<ErrorCode> = new Set([
  "ANT_SANDBOX_IMAGE_INVALID",
  "ANT_SANDBOX_IMAGE_MISSING",
  "ANT_SANDBOX_IMAGE_NOT_ALLOWED",
  "ANT_SANDBOX_IMAGE_UNUSABLE",
]);

export interface ReplayParts {
  readonly associate: string;
  readonly journal: Pick<Journal, "find">;
  readonly ports: AttemptPorts;
  /** Ends all replays. */
  readonly signal: AbortSignal;
  /** Calls back when the caller has gone away; returns how to stop listening. */
  onCanceled(replayId: string, canceled: () => void): () => void;
}

export class Replays {
  readonly #parts: ReplayParts;
  #open = 0;

  constructor(parts: ReplayParts) {
    this.#parts = parts;
  }

  /** Emits signs of life, then the report. Throws a coded error if there is none. */
  async answer(request: AttemptReplayRequest, emit: (event: AttemptReplayEvent) => void): Promise<void> {
    if (this.#open >= limits.openReplays)
      throw new AntiphonError("ANT_SANDBOX_BUSY", `${limits.openReplays} replays are under way already`);
    this.#open += 1;
    const canceled = new AbortController();
    const stopListening = this.#parts.onCanceled(request.replayId, () => canceled.abort("canceled"));
    const beat = setInterval(() => emit({ kind: "alive" }), limits.sandboxBeatMs);
    try {
      const report = await this.#replay(request, AbortSignal.any([this.#parts.signal, canceled.signal]));
      emit({ kind: "done", report });
    } finally {
      clearInterval(beat);
      stopListening();
      this.#open -= 1;
    }
  }

  async #replay(request: AttemptReplayRequest, signal: AbortSignal): Promise<ReplayReport> {
    const { journal, ports: given, associate } = this.#parts;
    const { replayId, run, task, epoch, image } = request;
    const then = await recordedAttempt({ run, task, epoch }, journal, given.evidence);
    const { calls, heard } = then;
    const dispatch = image === undefined ? then.dispatch : { ...then.dispatch, image };
    const briefed = heard.filter(({ look }) => look === 0);
    const read = heard.filter(({ look }) => look > 0);
    const order = { runId: run, epoch, dispatch, associate, replay: { id: replayId, calls, briefed, read } };
    const ports = withTreesAgain(order, given, signal);
    const ran = await attempted(order, ports, { stop: signal, giveUp: signal });
    if (signal.aborted) throw new AntiphonError("ANT_SANDBOX_CANCELED", "the replay was ended early");
    const { facts, report, artifacts } = await proposed(order, ports, ran);
    const { ending } = facts;
    if (ending.kind === "stopped" && IMAGE_FAULTS.has(ending.code))
      throw new AntiphonError(ending.code, ending.message);
    const { egress, meta } = ran.outcome ?? {};
    const { same, recorded, replayed, divergence } = compared(then, {
      diff: facts.change?.patch ?? null,
      artifacts: digestsOf(artifacts),
      commands: report.result.commands_run,
      strayed: egress?.replay?.strayed ?? null,
      stopped: ending.kind === "stopped" ? ending.message : null,
    });
    return {
      ...{ replayId, run, task, epoch, same, recorded, replayed, divergence },
      calls: calls.length,
      served: egress?.replay?.served ?? 0,
      model_tokens: egress?.model_tokens ?? 0,
      code: report.code,
      images: { recorded: then.image, replayed: meta?.image ?? null },
    };
  }
}

function digestsOf(artifacts: readonly Artifact[]): Readonly<Record<string, Digest>> {
  return Object.fromEntries(
    artifacts.map(({ path, file }) => [path, "blob" in file ? file.blob.digest : digestOf(file.text)]),
  );
}
