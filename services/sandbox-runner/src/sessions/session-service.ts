/**
 * Sessions over the bus: any runner may answer `open`; everything after it goes to the subjects of this node.
 *
 * A session takes a slot from its acceptance until its container is gone. Every request is answered: with its events,
 * with `over` and the reason, or with a coded error.
 */
import {
  AntiphonError,
  limits,
  requestProblem,
  subjects,
  validate,
  type ContractType,
  type SandboxSessionEvent,
  type SandboxSessionOpen,
  type SandboxSessionVerb,
} from "@antiphon/contracts";
import { allDone, listen, serveRpc, serveRpcStream, tell, type Bus, type Logger } from "@antiphon/runtime";
import { LiveLog } from "../jobs/live-log.ts";
import type { Lease } from "../pool/pool.ts";
import { fillWorkspace, orderOf, planWorkspace, wantedOf } from "../workspace/workspace.ts";
import { jobLimits } from "../job-limits.ts";
import type { JobPorts } from "../jobs/job-ports.ts";
import { Session } from "./session.ts";
import type { Slots } from "../jobs/slots.ts";

export interface SessionServiceOptions {
  readonly bus: Bus;
  readonly log: Logger;
  readonly slots: Slots;
  readonly ports: Omit<
    JobPorts,
    "onOutput" | "onAnswer" | "onInbox" | "progress" | "timed" | "later" | "egress" | "environments"
  >;
}

type SessionRequest =
  "SandboxSessionExec" | "SandboxSessionWrite" | "SandboxSessionRef" | "SandboxSessionInput";
type Emit = (event: SandboxSessionEvent) => void;

interface Held {
  readonly session: Session;
  readonly request: SandboxSessionOpen;
  readonly opened: SandboxSessionEvent;
}

const BUSY_RETRY_MS = 500;
const QUEUE = "sandbox-runner";
/** How many ended sessions are remembered with their reasons. */
const REMEMBERED = 256;

export class SessionService {
  readonly #options: SessionServiceOptions;
  readonly #held = new Map<string, Held>();
  readonly #opening = new Map<string, Promise<Held>>();
  readonly #ended = new Map<string, string>();
  #ticking: NodeJS.Timeout | null = null;
  #closed = false;

  constructor(options: SessionServiceOptions) {
    this.#options = options;
  }

  serve(): void {
    const { bus, log, ports } = this.#options;
    const at = (verb: SandboxSessionVerb): string => subjects.sandboxSession(verb, ports.node);
    const stream = (subject: string, name: string, answer: (value: unknown, emit: Emit) => Promise<void>) =>
      serveRpcStream<unknown, SandboxSessionEvent>(
        bus,
        subject,
        QUEUE,
        (value, emit) => withBeats(emit, () => answer(value, emit)),
        { log, name: `sandbox-session-${name}` },
      );
    stream(subjects.sandboxSessionOpen, "open", (value, emit) => this.#open(value, emit));
    stream(at("exec"), "exec", (value, emit) => {
      const request = checked("SandboxSessionExec", value);
      return this.#with(request.sessionId, emit, ({ session }) => session.exec(request, emit));
    });
    stream(at("write"), "write", (value, emit) => {
      const { sessionId, ...files } = checked("SandboxSessionWrite", value);
      return this.#with(sessionId, emit, async ({ session }) => {
        const room = ports.defaults.workspaceBytes;
        await session.write(await planWorkspace({ tree: null, ...files }, ports.sources, room));
        emit({ kind: "done" });
      });
    });
    stream(at("collect"), "collect", (value, emit) =>
      this.#with(checked("SandboxSessionRef", value).sessionId, emit, async ({ session }) => {
        emit({ kind: "collected", changes: await session.collect() });
      }),
    );
    stream(at("close"), "close", async (value, emit) => {
      await this.#held.get(checked("SandboxSessionRef", value).sessionId)?.session.cancel("closed");
      emit({ kind: "done" });
    });
    serveRpc<unknown, object>(bus, at("input"), QUEUE, (value) => this.#input(value), {
      log,
      name: "sandbox-session-input",
    });
    listen<unknown>(bus, at("signal"), (value) => this.#hear(value));
    this.#ticking = setInterval(() => {
      for (const { session } of this.#held.values()) session.tick();
    }, limits.sandboxBeatMs / 2).unref();
  }

  /** Ends all sessions. Resolves when their containers are gone. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#ticking !== null) clearInterval(this.#ticking);
    await Promise.allSettled(this.#opening.values());
    await allDone([...this.#held.values()].map(({ session }) => session.cancel("the runner stops")));
  }

  async #open(value: unknown, emit: Emit): Promise<void> {
    const opened = validate("SandboxSessionOpen", value);
    if (!opened.ok) {
      const { code, detail } = requestProblem("SandboxSessionOpen", value, opened.errors);
      if (code !== "ANT_RPC_NEWER") throw refused(detail);
      this.#options.log.warn({ code, detail }, "left to a newer runner");
      return emit({ kind: "busy", retryAfterMs: BUSY_RETRY_MS });
    }
    const request = opened.value;
    const { sessionId } = request;
    const again = this.#held.get(sessionId) ?? this.#opening.get(sessionId);
    // Nothing is awaited between this look-up and `set`, so a session opens only once.
    if (again !== undefined) return emit((await again).opened);
    this.#fence(request);
    if (this.#closed || !this.#options.slots.take())
      return emit({ kind: "busy", retryAfterMs: BUSY_RETRY_MS });
    const opening = this.#start(request).finally(() => this.#opening.delete(sessionId));
    this.#opening.set(sessionId, opening);
    emit((await opening).opened);
  }

  /** A session of a newer epoch ends those of older epochs of the same task here; an older epoch is refused. */
  #fence({ run, task, epoch }: SandboxSessionOpen): void {
    for (const { request, session } of this.#held.values()) {
      if (request.run !== run || request.task !== task) continue;
      if (request.epoch > epoch)
        throw new AntiphonError("ANT_SANDBOX_REFUSED", `epoch ${request.epoch} of this task is active here`);
      if (request.epoch < epoch) void session.cancel(`epoch ${epoch} has begun`);
    }
  }

  async #start(request: SandboxSessionOpen): Promise<Held> {
    const { ports, slots, bus } = this.#options;
    let lease: Lease | null = null;
    try {
      const { budgetMs, workspace } = request;
      if (workspace.environment !== undefined) throw refused("a session has no prepared environment");
      const { container, keepBytes } = jobLimits(ports.defaults, request);
      const image = await ports.image(request.image);
      const plan = await planWorkspace(workspace, ports.sources, container.workspaceBytes);
      const job = { ...request, purpose: "attempt" } as const;
      lease = await ports.lease(orderOf(plan, image.id, container), job, wantedOf(plan));
      await fillWorkspace(lease, plan, "hint");
      if (this.#closed) throw new AntiphonError("ANT_SANDBOX_CANCELED", "the runner stops");
      const live = new LiveLog(request.epoch, (stream, line) => {
        tell(bus, subjects.log(request.run, request.task, stream), line);
      });
      const session = new Session({
        lease,
        image,
        plan,
        keepBytes,
        evidence: ports.evidence,
        now: () => performance.now(),
        endsAtMs: performance.now() + budgetMs,
        onOutput: (stream, piece) => live.push(stream, piece),
      });
      const { id: containerId, bootMs } = lease.sandbox;
      const { node, provider } = ports;
      const opened = { kind: "opened", node, provider, image: image.id, containerId, bootMs } as const;
      const held: Held = { session, request, opened };
      this.#held.set(request.sessionId, held);
      void session.ended.then(({ message }) => {
        live.flush();
        this.#over(request, message);
      });
      return held;
    } catch (error) {
      await lease?.release().catch(() => undefined); // the pool reports it
      slots.give();
      throw error;
    }
  }

  #over({ sessionId, run, task, epoch }: SandboxSessionOpen, reason: string): void {
    this.#held.delete(sessionId);
    this.#ended.set(sessionId, reason);
    for (const oldest of this.#ended.keys()) if (this.#ended.size > REMEMBERED) this.#ended.delete(oldest);
    this.#options.slots.give();
    this.#options.log.info({ run, task, epoch, sessionId, reason }, "session over");
  }

  /** Calls `work` before anything is awaited, so that requests keep their order. */
  async #with(sessionId: string, emit: Emit, work: (held: Held) => Promise<void>): Promise<void> {
    const held = this.#held.get(sessionId);
    if (held === undefined) throw this.#unknown(sessionId);
    try {
      await work(held);
    } catch (error) {
      const over = await held.session.failure(error);
      if (over === null) throw error;
      emit(over);
    }
  }

  async #input(value: unknown): Promise<object> {
    const request = checked("SandboxSessionInput", value);
    const held = this.#held.get(request.sessionId);
    if (held === undefined) throw this.#unknown(request.sessionId);
    await held.session.input(request);
    return {};
  }

  #hear(value: unknown): void {
    const signal = validate("SandboxSessionSignal", value);
    if (signal.ok) this.#held.get(signal.value.sessionId)?.session.hear(signal.value);
  }

  #unknown(sessionId: string): AntiphonError {
    const why = this.#ended.get(sessionId) ?? "it was not opened here";
    return new AntiphonError("ANT_SANDBOX_SESSION_OVER", `session ${sessionId}: ${why}`);
  }
}

/** Emits beats while the work goes on. */
async function withBeats(emit: Emit, work: () => Promise<void>): Promise<void> {
  const beat = setInterval(() => {
    emit({ kind: "beat" });
  }, limits.sandboxBeatMs);
  try {
    await work();
  } finally {
    clearInterval(beat);
  }
}

function checked<N extends SessionRequest>(name: N, value: unknown): ContractType<N> {
  const result = validate(name, value);
  if (result.ok) return result.value;
  const [first] = result.errors;
  throw refused(`${first?.path ?? ""}: ${first?.message ?? "not a request"}`);
}

function refused(why: string): AntiphonError {
  return new AntiphonError("ANT_SANDBOX_REFUSED", why);
}
