/**
 * One session: a sandbox with a workspace, the commands it runs one after the other, and the lease its holder keeps.
 *
 * Lifecycle: open -> over. `over` is final and has a reason; pending requests are told that reason.
 *
 * A session is one container and one attempt: its end always takes the container with it. A command that is killed or
 * out of time ends alone, and the workspace stays; a session that is out of time ends. Commands run in the order they
 * came, and a bounded number waits. Output and input are in order and without a gap, and neither side holds more than a
 * window of bytes that the other has not taken.
 */
import {
  AntiphonError,
  limits,
  type SandboxChanges,
  type SandboxSessionEvent,
  type SandboxSessionExec,
  type SandboxSessionExit,
  type SandboxSessionInput,
  type SandboxSessionSignal,
} from "@antiphon/contracts";
import { unkeptOutput, type Evidence } from "../jobs/evidence.ts";
import type { Lease } from "../pool/pool.ts";
import { boundsOf, layOver, type WorkspacePlan } from "../workspace/workspace.ts";
import { stepEnvironment } from "../providers/container-spec.ts";
import { endingOfDeath, endingOfExit } from "../jobs/ending.ts";
import { InputQueue } from "./input-queue.ts";
import { MAX_OUTPUT_BYTES } from "../job-limits.ts";
import { OutputWindow } from "./output-window.ts";
import { stepDirectory } from "../workspace/path-rule.ts";
import { Refusal } from "../workspace/refusal.ts";
import { encodeStep } from "../conversation/step-script.ts";
import { SandboxDied, type ImageFacts, type SandboxDeath } from "../ports.ts";

export interface SessionOptions {
  readonly lease: Lease;
  readonly image: ImageFacts;
  /** The first content of /workspace, which changes are compared with. */
  readonly plan: WorkspacePlan;
  readonly keepBytes: number;
  readonly endsAtMs: number;
  readonly evidence: Evidence;
  readonly now: () => number;
  /** Gets all output, for people who watch. */
  readonly onOutput: (stream: "stdout" | "stderr", piece: Buffer) => void;
}

/** A waiting or running command. */
interface Asked {
  readonly window: OutputWindow;
  readonly input: InputQueue | null;
  readonly kill: AbortController;
}

type Emit = (event: SandboxSessionEvent) => void;
type OverEvent = Extract<SandboxSessionEvent, { kind: "over" }>;

export class Session {
  readonly #options: SessionOptions;
  readonly #asked = new Map<string, Asked>();
  #turn: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #heardAt: number;
  #over: SandboxDeath | null = null;
  /** Resolves with the reason when the container is gone. */
  readonly ended: Promise<OverEvent>;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#heardAt = options.now();
    this.ended = options.lease.sandbox.gone.then(async () => {
      this.#end({ kind: "gone", message: "the container ended" });
      await options.lease.release().catch(() => undefined);
      return this.#overEvent();
    });
  }

  get containerId(): string {
    return this.#options.lease.sandbox.id;
  }

  hear(signal: SandboxSessionSignal): void {
    this.#heardAt = this.#options.now();
    const asked = signal.execId === null ? undefined : this.#asked.get(signal.execId);
    if (signal.kind === "kill") asked?.kill.abort();
    else asked?.window.taken(signal.taken);
  }

  /** Checks the lease and the session's time. */
  tick(): void {
    const now = this.#options.now();
    if (now - this.#heardAt > limits.sandboxSilenceMs) void this.cancel("the holder went silent"); // sandbox-runner/S6
    if (now > this.#options.endsAtMs) this.#end({ kind: "timeout" });
  }

  /** Runs the command when its turn comes, and emits its exit. */
  async exec(request: SandboxSessionExec, emit: Emit): Promise<void> {
    const { execId, argv, env } = request;
    const cwd = directoryOf(request.cwd);
    if (encodeStep("perl", { argv, cwd, env }) === null)
      throw new AntiphonError("ANT_SANDBOX_REFUSED", "a NUL in an argument, or an invalid variable name");
    if (this.#asked.has(execId))
      throw new AntiphonError("ANT_SANDBOX_REFUSED", `${execId} was already requested`);
    const asked: Asked = {
      window: new OutputWindow(limits.sessionWindowBytes),
      input: request.hasInput ? new InputQueue() : null,
      kill: new AbortController(),
    };
    this.#asked.set(execId, asked); // before anything is awaited, because its input may follow at once
    try {
      emit({ kind: "exit", exit: await this.#inTurn(() => this.#run(request, cwd, asked, emit)) });
    } finally {
      this.#asked.delete(execId);
      asked.input?.close();
    }
  }

  /** Resolves when there is room for the next piece. */
  async input({ execId, seq, data, end }: SandboxSessionInput): Promise<void> {
    const input = this.#asked.get(execId)?.input;
    if (input === undefined || input === null)
      throw new AntiphonError("ANT_SANDBOX_REFUSED", `no command ${execId} waits for input`);
    if (!(await input.offer(seq, Buffer.from(data, "base64"), end)))
      throw new AntiphonError("ANT_SANDBOX_REFUSED", `input before piece ${seq} is missing`);
  }

  async write(plan: WorkspacePlan): Promise<void> {
    await this.#inTurn(() => layOver(this.#options.lease.sandbox, plan));
  }

  async collect(): Promise<SandboxChanges> {
    const { lease, plan, evidence } = this.#options;
    return this.#inTurn(async () => {
      try {
        return await evidence.changes(await lease.sandbox.collect(plan.baseline, boundsOf(plan)));
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        throw new AntiphonError("ANT_SANDBOX_OUTPUT", error.message, { data: { rule: error.rule } });
      }
    });
  }

  /** Ends the session. Resolves when the container is gone. */
  async cancel(reason: string): Promise<void> {
    this.#end({ kind: "canceled", reason });
    await this.ended;
  }

  /** The `over` event when the session has ended, else null. */
  async failure(error: unknown): Promise<OverEvent | null> {
    if (error instanceof SandboxDied) this.#end(error.death);
    return this.#over === null ? null : this.ended;
  }

  #end(death: SandboxDeath): void {
    if (this.#over !== null) return;
    this.#over = death;
    for (const { input, kill } of this.#asked.values()) {
      input?.close();
      kill.abort();
    }
    this.#options.lease.release().catch(() => undefined); // the pool reports a failure to remove
  }

  #overEvent(): OverEvent {
    const { outcome, code, message } = endingOfDeath(this.#over ?? { kind: "gone", message: "" }, null);
    return { kind: "over", outcome, code: code ?? "ANT_SANDBOX_SESSION_OVER", message };
  }

  async #run(
    request: SandboxSessionExec,
    cwd: string,
    { window, input, kill }: Asked,
    emit: Emit,
  ): Promise<SandboxSessionExit> {
    const { lease, image, keepBytes, endsAtMs, evidence, now, onOutput } = this.#options;
    let seq = 0;
    const exit = await lease.sandbox.run({
      argv: request.argv,
      cwd,
      env: { ...stepEnvironment(image, lease.sandbox.home), ...request.env },
      stdin: input,
      timeoutMs: Math.max(1, Math.min(request.timeoutMs, endsAtMs - now())),
      timeoutEnds: "command",
      signal: kill.signal,
      keepBytes,
      maxOutputBytes: MAX_OUTPUT_BYTES,
      onOutput: (stream, piece) => {
        onOutput(stream, piece);
        if (!request.stream) return undefined;
        emit({ kind: "output", seq: seq++, stream, data: piece.toString("base64") });
        return window.sent(piece.length);
      },
    });
    const { exitCode, signal, timedOut, durationMs, stdout, stderr } = exit;
    const outputs = request.keep
      ? await evidence.outputs({ stdout, stderr })
      : { stdout: unkeptOutput(stdout), stderr: unkeptOutput(stderr) };
    const code = timedOut ? "ANT_SANDBOX_TIMEOUT" : (endingOfExit(exit, request.execId)?.code ?? null);
    return { exitCode, signal, timedOut, durationMs, code, ...outputs };
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.#waiting >= limits.sessionQueue)
      throw new AntiphonError("ANT_SANDBOX_BUSY", `${this.#waiting} commands are already waiting`);
    this.#waiting += 1;
    const mine = this.#turn.then(() => {
      if (this.#over !== null) throw new SandboxDied(this.#over);
      return work();
    });
    this.#turn = mine.catch(() => undefined);
    try {
      return await mine;
    } finally {
      this.#waiting -= 1;
    }
  }
}

function directoryOf(cwd: string | undefined): string {
  try {
    return stepDirectory(cwd);
  } catch (error) {
    if (error instanceof Refusal) throw new AntiphonError("ANT_SANDBOX_PATH", error.message);
    throw error;
  }
}
