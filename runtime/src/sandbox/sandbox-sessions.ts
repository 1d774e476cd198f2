/**
 * SandboxSessions: a sandbox that stays open for several commands, on any runner with a free slot.
 *
 * Lifecycle of a session: asking -> (busy or nobody: wait, ask again) -> open -> over (closed by its holder, or ended).
 *
 * While a session is open its runner hears `alive` every limits.sandboxBeatMs; if this process dies, the runner notices
 * the silence and removes the container. A runner that does not exist, or is silent for limits.sandboxSilenceMs during
 * a request, is lost, and the session is over with it. Output arrives in order and complete, or the command fails; it
 * counts as taken once the listener has processed it.
 */
import {
  AntiphonError,
  BUCKETS,
  HEADERS,
  isErrorCode,
  limits,
  subjects,
  type SandboxChanges,
  type SandboxFile,
  type SandboxSessionEvent,
  type SandboxSessionExec,
  type SandboxSessionExit,
  type SandboxSessionOpen,
  type SandboxSessionSignal,
} from "@antiphon/contracts";
import type { Bus } from "../nats/bus.ts";
import type { Clock } from "../process/clock.ts";
import { systemClock } from "../process/clock.ts";
import { uniqueId } from "../process/ids.ts";
import { openBlobs } from "../stores/blobs.ts";
import { CommandInput, type InputSource } from "./command-input.ts";
import { writeTar } from "@antiphon/git/trees/tar";
import { OutputDelivery, type OutputListener } from "./output-delivery.ts";
import { tell } from "../rpc/rpc.ts";
import { converse } from "../rpc/rpc-conversation.ts";

export type SandboxSessionRequest = Omit<SandboxSessionOpen, "sessionId">;

export interface SandboxCommand {
  argv: readonly string[];
  /** Relative to /workspace. */
  cwd?: string;
  env?: Readonly<Record<string, string>>;
  stdin?: InputSource;
  /** The command is killed after this time. Default: the rest of the session. */
  timeoutMs?: number;
  /** Kills the command. */
  signal?: AbortSignal;
  /** Called with output as it comes; the command waits while a returned promise is pending. */
  onOutput?: OutputListener;
  /** Stores the output in the object store. Default false. */
  keep?: boolean;
}

export interface SessionFile {
  path: string;
  content: Uint8Array | string;
  /** Default false. */
  executable?: boolean;
}

export interface SandboxSession {
  readonly id: string;
  readonly node: string;
  readonly image: string;
  readonly containerId: string;
  readonly provider: string;
  readonly bootMs: number;
  /** Commands run one after the other. Rejects with a coded error, ANT_SANDBOX_SESSION_OVER if the session is over. */
  exec(command: SandboxCommand): Promise<SandboxSessionExit>;
  /** Deletes first. Any size within the limits of a job; large contents go through the object store. */
  write(files: readonly SessionFile[], deletions?: readonly string[]): Promise<void>;
  /** Everything that differs from the workspace at the start of the session. */
  collect(): Promise<SandboxChanges>;
  /** May be called at any time and more than once; never throws. */
  close(): Promise<void>;
}

export interface SandboxSessions {
  open(
    request: SandboxSessionRequest,
    options?: { signal?: AbortSignal; patienceMs?: number },
  ): Promise<SandboxSession>;
}

/** If nobody serves the subject for this long, there is no runner; one that is starting would be ready by then. */
const NOBODY_MS = 20_000;
/** Larger contents go to the object store: a message holds 1 MiB, and base64 adds a third. */
const INLINE_BYTES = 512 * 1024;
/** Errors that mean that the session is over. */
const ENDS: ReadonlySet<string> = new Set(["ANT_SANDBOX_SESSION_OVER", "ANT_SANDBOX_RUNNER_LOST"]);
const LONGEST_MS = limits.taskTimeBudgetMaxS * 1000;

type Opened = Extract<SandboxSessionEvent, { kind: "opened" }>;

export function sandboxSessions(bus: Bus, clock: Clock = systemClock): SandboxSessions {
  return {
    async open(request, { signal, patienceMs = 600_000 } = {}) {
      const sessionId = `ss_${uniqueId()}`;
      const askedAt = clock.now();
      for (let attempt = 0; ; attempt += 1) {
        if (signal?.aborted) throw canceled();
        const last = await ask(bus, { ...request, sessionId });
        const waited = clock.now() - askedAt;
        if (last !== null && last.kind === "opened") {
          const session = new OpenSession(bus, sessionId, last);
          if (signal?.aborted !== true) return session;
          await session.close();
          throw canceled();
        }
        if (last === null) {
          if (waited > Math.min(NOBODY_MS, patienceMs))
            throw new AntiphonError("ANT_SANDBOX_RUNNER_LOST", "no sandbox-runner is available");
          await clock.sleep(Math.min(1000, 100 * 2 ** attempt), signal);
        } else if (last.kind === "busy") {
          if (waited > patienceMs) throw new AntiphonError("ANT_SANDBOX_BUSY", "all runners are busy");
          await clock.sleep(last.retryAfterMs * (0.75 + 0.5 * Math.random()), signal);
        } else throw unexpected(last);
      }
    },
  };
}

/** Null: no runner serves the subject. */
async function ask(bus: Bus, request: SandboxSessionOpen): Promise<SandboxSessionEvent | null> {
  const headers = {
    [HEADERS.schema]: "SandboxSessionOpen.v1",
    [HEADERS.run]: request.run,
    [HEADERS.task]: request.task,
    [HEADERS.epoch]: String(request.epoch),
  };
  return converse<SandboxSessionEvent>(bus, subjects.sandboxSessionOpen, request, { headers, isLast });
}

class OpenSession implements SandboxSession {
  readonly id: string;
  readonly node: string;
  readonly image: string;
  readonly containerId: string;
  readonly provider: string;
  readonly bootMs: number;
  readonly #bus: Bus;
  readonly #beat: NodeJS.Timeout;
  /** Output of the running command. */
  #progress: { readonly execId: string; readonly delivery: OutputDelivery } | null = null;
  #over: AntiphonError | null = null;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(bus: Bus, id: string, { node, image, containerId, provider, bootMs }: Opened) {
    this.id = id;
    this.node = node;
    this.image = image;
    this.containerId = containerId;
    this.provider = provider;
    this.bootMs = bootMs;
    this.#bus = bus;
    this.#beat = setInterval(() => this.#alive(), limits.sandboxBeatMs);
    this.#alive();
  }

  exec(command: SandboxCommand): Promise<SandboxSessionExit> {
    // One after the other here too, because `taken` refers to the running command.
    const mine = this.#turn.then(() => this.#exec(command));
    this.#turn = mine.catch(() => undefined);
    return mine;
  }

  async write(files: readonly SessionFile[], deletions: readonly string[] = []): Promise<void> {
    const entries = files.map(({ path, content, executable = false }) => ({
      path,
      mode: executable ? ("100755" as const) : ("100644" as const),
      content: typeof content === "string" ? Buffer.from(content, "utf8") : Buffer.from(content),
    }));
    const bytes = entries.reduce((sum, { content }) => sum + content.length, 0);
    const isLarge = bytes > INLINE_BYTES;
    const overlay = isLarge
      ? await openBlobs(this.#bus, BUCKETS.evidenceFiles).put(null, writeTar(entries))
      : null;
    const inline = (isLarge ? [] : entries).map(({ path, mode, content }): SandboxFile => ({
      path,
      mode,
      content: content.toString("base64"),
      encoding: "base64",
    }));
    await this.#do("write", { sessionId: this.id, files: inline, overlay, deletions: [...deletions] });
  }

  async collect(): Promise<SandboxChanges> {
    const last = await this.#do("collect", { sessionId: this.id });
    if (last.kind !== "collected") throw unexpected(last);
    return last.changes;
  }

  async close(): Promise<void> {
    clearInterval(this.#beat);
    if (this.#over !== null) return;
    this.#over = new AntiphonError("ANT_SANDBOX_SESSION_OVER", `session ${this.id}: closed`);
    try {
      await converse(
        this.#bus,
        subjects.sandboxSession("close", this.node),
        { sessionId: this.id },
        { isLast },
      );
    } catch {
      // Without an answer the lease ends the session, because nobody sends `alive` any more.
    }
  }

  async #exec(command: SandboxCommand): Promise<SandboxSessionExit> {
    const { argv, cwd, env = {}, stdin, timeoutMs = LONGEST_MS, signal, onOutput, keep = false } = command;
    const execId = `x_${uniqueId()}`;
    const request: SandboxSessionExec = {
      sessionId: this.id,
      execId,
      argv: [...argv],
      ...(cwd === undefined ? {} : { cwd }),
      env: { ...env },
      hasInput: stdin !== undefined,
      timeoutMs,
      stream: onOutput !== undefined,
      keep,
    };
    const kill = (): void => this.#say({ kind: "kill", sessionId: this.id, execId });
    const delivery = new OutputDelivery(onOutput ?? (() => undefined), () => this.#alive(), kill);
    this.#progress = { execId, delivery };
    signal?.addEventListener("abort", kill, { once: true });
    try {
      const running = this.#do("exec", request, (event) => {
        if (event.kind === "output") delivery.push(event);
      });
      if (signal?.aborted === true) kill();
      const input =
        stdin === undefined
          ? null
          : new CommandInput(this.#bus, { sessionId: this.id, execId, node: this.node }, kill);
      if (input !== null && stdin !== undefined) void input.feed(stdin);
      const last = await running.finally(() => input?.stop());
      if (last.kind !== "exit") throw unexpected(last);
      await delivery.settled();
      if (input !== null && input.failure !== null) throw input.failure;
      return last.exit;
    } finally {
      signal?.removeEventListener("abort", kill);
      this.#progress = null;
    }
  }

  async #do(
    verb: "exec" | "write" | "collect",
    request: object,
    onEvent?: (event: SandboxSessionEvent) => void,
  ): Promise<SandboxSessionEvent> {
    if (this.#over !== null) throw this.#over;
    const subject = subjects.sandboxSession(verb, this.node);
    try {
      const last = await converse<SandboxSessionEvent>(this.#bus, subject, request, {
        isLast,
        ...(onEvent === undefined ? {} : { onEvent }),
      });
      if (last === null) throw new AntiphonError("ANT_SANDBOX_RUNNER_LOST", `runner ${this.node} is gone`);
      if (last.kind !== "over") return last;
      const error = new AntiphonError(
        isErrorCode(last.code) ? last.code : "ANT_SANDBOX_FAILED",
        last.message,
      );
      this.#end(error);
      throw error;
    } catch (error) {
      if (error instanceof AntiphonError && ENDS.has(error.code)) this.#end(error);
      throw error;
    }
  }

  #end(error: AntiphonError): void {
    this.#over ??= error;
    clearInterval(this.#beat);
  }

  #alive(): void {
    const { execId = null, delivery } = this.#progress ?? {};
    this.#say({ kind: "alive", sessionId: this.id, execId, taken: delivery?.taken ?? 0 });
  }

  #say(signal: SandboxSessionSignal): void {
    if (this.#over === null) tell(this.#bus, subjects.sandboxSession("signal", this.node), signal);
  }
}

function isLast({ kind }: SandboxSessionEvent): boolean {
  return kind !== "beat" && kind !== "output";
}

function canceled(): AntiphonError {
  return new AntiphonError("ANT_SANDBOX_CANCELED", "canceled before the session was open");
}

function unexpected({ kind }: SandboxSessionEvent): AntiphonError {
  return new AntiphonError("ANT_SANDBOX_FAILED", `the runner answered ${kind}`);
}
