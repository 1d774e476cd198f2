/**
 * The framed conversation with the supervisor in a sandbox: who speaks, who waits, and what ends it.
 *
 * Lifecycle: idle -> busy -> idle ... -> over. `over` is final and holds the reason; everything that waits
 * is told at once, and the container is killed whatever it was doing.
 *
 * Invariants:
 *   B1  One command at a time, one attempt per container (S1): `over` never becomes anything else.
 *   B2  A deadline, too much output, a frame that is none, a closed stream: each ends the container, with a name.
 *   B3  Memory held for a command is its two output bounds and one frame, however fast it prints; a slow
 *       reader or writer is waited for, not queued for.
 *   B4  `destroyed` resolves only when the provider says that the container is gone, or says why it is not.
 *   B5  A command can be killed by itself: what it printed is kept, the sandbox and its files live on.
 *   B6  The end of the sandbox is told to whoever asked it something, also while the question is still on its way, and
 *       is nobody else's failure.
 *   B7  What a listener has not taken holds up the command it came from, and never a later one.
 *   B8  What cannot be killed loses its line, so that its supervisor ends it (P7); what cannot be removed either is let
 *       go of, so that the reaper takes it (R3).
 */
import { FRAME_HEADER_BYTES, FrameDecoder, encodeFrame, encodeStdin, type Frame } from "./frames.ts";
import { OutputBound } from "./output-bound.ts";
import { encodeStep, parseExit, parseHello, type ExitWord, type Hello } from "./step-script.ts";
import { SandboxDied, type Command, type SandboxDeath } from "../ports.ts";
import { NetBridge } from "./net-bridge.ts";
import type { SupervisorLine } from "./supervisor-line.ts";

const GONE_DEADLINE_MS = 4_000;
/** A provider that is busy tells of the end a while after the line closes, and of an OOM kill a while after the end. */
const GONE_GRACE_MS = 2_000;
const OOM_GRACE_MS = 500;
/** The exit status of what SIGKILL ended, as the kernel does for want of memory. */
const KILLED_STATUS = 137;
/** Node fires a longer timer at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
/** From asking the supervisor to kill a command to its exit; after that the sandbox goes. */
const KILL_GRACE_MS = 2_000;
/** Input that a command has not read yet; more waits on our side, so that a kill is never queued behind it. */
const STDIN_WINDOW_BYTES = 1024 * 1024;
/** Input that goes to a sealed supervisor in one piece with its command: as little never fills the window. */
const AT_ONCE_BYTES = 32 * 1024;
const SIGKILL = 9;

interface Busy {
  readonly at: "busy";
  readonly onFrame: (frame: Frame) => void;
  readonly reject: (error: Error) => void;
  readonly partial: () => SandboxDied["partial"];
  /** Input the command has read, as its supervisor counts. */
  fedBytes: number;
  onFed: () => void;
  /** Listeners that have not taken their output yet. */
  slow: number;
}

/** One command, as it is said to the supervisor. */
export type Step = Pick<
  Command,
  "argv" | "cwd" | "env" | "stdin" | "timeoutMs" | "timeoutEnds" | "signal"
> & {
  /** The supervisor's own work instead of a command. */
  readonly own?: Buffer | undefined;
};

type Phase = { readonly at: "idle" } | Busy | { readonly at: "over"; readonly death: SandboxDeath };

export class SupervisorConversation {
  readonly gone: Promise<void>;
  readonly bridge = new NetBridge((frame) => void this.write(frame));
  readonly #line: SupervisorLine;
  readonly #frames = new FrameDecoder();
  readonly #complaints = new OutputBound(4096);
  #phase: Phase = { at: "idle" };
  #hello: Hello | null = null;
  #memoryRanOut = false;
  #tellOfMemory: () => void = () => undefined;
  readonly #toldOfMemory = new Promise<void>((resolve) => (this.#tellOfMemory = resolve));
  #exitStatus: number | null = null;
  #destroyed: Promise<void> | null = null;
  #letGo: () => void = () => undefined;
  /** Resolves when it is gone, or when all that ends it from here has failed: it is nobody's then (B8). */
  readonly letGo = new Promise<void>((resolve) => (this.#letGo = resolve));
  /** A command is being killed: nobody waits for its output any more. */
  #killing = false;

  constructor(line: SupervisorLine) {
    this.#line = line;
    this.gone = line.gone.then(async (status) => {
      this.#exitStatus = status;
      if (status === KILLED_STATUS && this.#phase.at !== "over")
        await waitFor(this.#toldOfMemory, OOM_GRACE_MS);
      this.over({ kind: "gone", message: `the container ended with status ${status}` });
    });
    line.listen({
      stdout: (bytes) => this.#receive(bytes),
      stderr: (bytes) => this.#complaints.push(bytes),
      fault: (message) => this.over({ kind: "protocol", message }),
      closed: () => void this.#lineClosed(),
    });
  }

  /** The supervisor's first word; null until it was said. */
  get hello(): Hello | null {
    return this.#hello;
  }

  /** What ended it; null while it lives. */
  get death(): SandboxDeath | null {
    return this.#phase.at === "over" ? this.#phase.death : null;
  }

  /** Resolves when the container is gone, once somebody or something has ended it. */
  get destroyed(): Promise<void> {
    return this.#destroyed ?? this.gone;
  }

  /** The provider said that memory ran out in here. */
  memoryRanOut(): void {
    this.#memoryRanOut = true;
    this.#tellOfMemory();
  }

  /** Waits for the supervisor's first word. */
  async greet(deadlineMs: number): Promise<void> {
    this.#hello = await this.await<Hello>(deadlineMs, (resolve, reject) => (frame) => {
      const said = frame.type === "h" ? parseHello(frame.payload.toString("utf8")) : null;
      if (said === null) reject(this.protocol(`the supervisor began with ${frame.type}`));
      else resolve(said);
    });
  }

  /** True for a supervisor that takes its input frame by frame (P13). */
  get #isPlain(): boolean {
    return this.#hello?.kind === "sh";
  }

  /** Says a command with its input, and hears it out. */
  async execute(
    step: Step,
    heard: (stream: "stdout" | "stderr", piece: Buffer) => void,
    partial: () => SandboxDied["partial"],
  ): Promise<ExitWord & { readonly timedOut: boolean }> {
    const said = step.own ?? this.#say(step);
    let isLate = false;
    const ended = this.await<ExitWord>(
      step.timeoutMs,
      (resolve, reject) => (frame) => {
        if (frame.type === "o") heard("stdout", frame.payload);
        else if (frame.type === "e") heard("stderr", frame.payload);
        else if (frame.type === "x") {
          const exit = parseExit(frame.payload.toString("utf8"));
          if (exit === null) reject(this.protocol("an exit frame that is none"));
          else resolve(exit);
        } else reject(this.protocol(`${frame.type}: ${frame.payload.toString("utf8").slice(0, 200)}`));
      },
      partial,
      () => {
        if (step.timeoutEnds !== "command") return this.over({ kind: "timeout" }); // B2
        isLate = true;
        this.killCommand();
      },
    );
    const kill = (): void => this.killCommand();
    step.signal?.addEventListener("abort", kill, { once: true });
    // A failure to write shows in `ended` too, with a better name; both are awaited so neither is left over.
    const fed = this.#feed(said, step.stdin, ended).catch((error: unknown) => {
      this.over({ kind: "protocol", message: error instanceof Error ? error.message : String(error) });
    });
    if (step.signal?.aborted === true) kill();
    try {
      const exit = await ended;
      await fed;
      return { ...exit, timedOut: isLate && exit.signal === SIGKILL };
    } finally {
      step.signal?.removeEventListener("abort", kill);
    }
  }

  #say(step: Step): Buffer {
    const text = encodeStep(this.#hello?.kind ?? "perl", step);
    if (text === null) throw this.protocol("a command that cannot be said");
    return encodeFrame("R", text);
  }

  /** Says the command and its input. A command that ends without reading it all ends the input, too. */
  async #feed(said: Buffer, stdin: Step["stdin"], ended: Promise<unknown>): Promise<void> {
    if (!this.#isPlain && (stdin === null || (Buffer.isBuffer(stdin) && stdin.length <= AT_ONCE_BYTES))) {
      return this.write(Buffer.concat([said, ...encodeStdin(stdin ?? Buffer.alloc(0)), encodeFrame("E")]));
    }
    await this.write(said);
    const over = ended.then(
      () => null,
      () => null,
    );
    const source = Buffer.isBuffer(stdin) ? [stdin] : (stdin ?? []);
    const pieces = piecesOf(source);
    let sent = this.#isPlain ? said.length - FRAME_HEADER_BYTES : 0;
    for (;;) {
      const next = await Promise.race([pieces.next(), over]);
      if (next === null || next.done === true) break;
      for (const frame of encodeStdin(next.value)) {
        if ((await Promise.race([this.#roomFor(sent), over])) === null) break;
        sent += frame.length - FRAME_HEADER_BYTES;
        await this.write(frame);
      }
    }
    void pieces.return(undefined).catch(() => undefined); // the giver's own end is the giver's to tell
    if (this.#isPlain) await Promise.race([this.#roomFor(sent), over]);
    await this.write(encodeFrame("E"));
  }

  /** Resolves when what was sent and not read yet leaves room (B3); for the plain supervisor, when all of it was taken. */
  async #roomFor(sent: number): Promise<true> {
    const window = this.#isPlain ? 1 : STDIN_WINDOW_BYTES; // P13
    for (;;) {
      const phase = this.#phase;
      if (phase.at !== "busy" || sent - phase.fedBytes < window) return true;
      await new Promise<void>((resolve) => (phase.onFed = resolve));
    }
  }

  /** Reads no further until the listener has taken what it was given. */
  waitFor(taken: Promise<void>): void {
    const busy = this.#phase;
    if (busy.at !== "busy" || this.#killing) return;
    busy.slow += 1;
    this.#line.pause();
    const next = (): void => {
      busy.slow -= 1;
      if (busy.slow === 0 && this.#phase === busy) this.#line.resume(); // B7: the line may be another's by now
    };
    taken.then(next, next);
  }

  /** Asks the supervisor to kill the command with all it started (B5); if that does not help, all goes. */
  killCommand(): void {
    const busy = this.#phase;
    if (busy.at !== "busy" || this.#killing) return;
    this.#killing = true;
    this.#line.resume(); // B5: the exit is behind output that nobody may be waiting for
    if (this.#hello?.kind === "perl") void this.write(encodeFrame("K"));
    setTimeout(() => {
      if (this.#phase === busy) this.over({ kind: "timeout" });
    }, KILL_GRACE_MS).unref();
  }

  /** Resolves when the line can take more (B3), or at once when there is nobody to write to. */
  async write(bytes: Buffer): Promise<void> {
    if (this.#phase.at !== "over") await this.#line.write(bytes);
  }

  /** Takes the conversation until `resolve` or `reject` is called, or the sandbox is over. */
  await<T>(
    deadlineMs: number,
    listener: (resolve: (value: T) => void, reject: (error: Error) => void) => (frame: Frame) => void,
    partial: () => SandboxDied["partial"] = () => null,
    onDeadline = () => this.over({ kind: "timeout" }), // B2
  ): Promise<T> {
    if (this.#phase.at !== "idle") {
      const death =
        this.#phase.at === "over" ? this.#phase.death : ({ kind: "protocol", message: "busy" } as const);
      return Promise.reject(new SandboxDied(death)); // B1
    }
    return new Promise<T>((resolvePromise, rejectPromise) => {
      const timer = setTimeout(onDeadline, Math.min(deadlineMs, LONGEST_TIMER_MS));
      const settle = (): void => {
        clearTimeout(timer);
        this.#killing = false;
        if (this.#phase.at !== "busy") return;
        if (this.#phase.slow > 0) this.#line.resume(); // B7
        this.#phase = { at: "idle" };
      };
      const resolve = (value: T): void => {
        settle();
        resolvePromise(value);
      };
      const reject = (error: Error): void => {
        settle();
        rejectPromise(error);
      };
      const onFrame = listener(resolve, reject);
      this.#phase = { at: "busy", onFrame, reject, partial, fedBytes: 0, onFed: () => undefined, slow: 0 };
    });
  }

  #receive(bytes: Buffer): void {
    try {
      for (const frame of this.#frames.push(bytes)) this.#dispatch(frame);
    } catch (error) {
      this.over({ kind: "protocol", message: error instanceof Error ? error.message : String(error) });
    }
  }

  #dispatch(frame: Frame): void {
    if (this.bridge.hear(frame)) return;
    const phase = this.#phase;
    if (phase.at === "busy" && frame.type === "w") {
      phase.fedBytes += Number(frame.payload.toString("latin1"));
      phase.onFed();
    } else if (phase.at === "busy") phase.onFrame(frame);
    else if (phase.at === "idle") this.over({ kind: "protocol", message: `${frame.type} out of turn` });
  }

  /** Ends it for something said out of order. */
  protocol(message: string): SandboxDied {
    const said = this.#complaints.finish(300).tail.trim();
    const death: SandboxDeath = { kind: "protocol", message: said === "" ? message : `${message} (${said})` };
    this.over(death);
    return new SandboxDied(death);
  }

  /** The line closed by itself: the container died, and its provider may know of what. */
  async #lineClosed(): Promise<void> {
    if (this.#phase.at === "over") return;
    await waitFor(this.gone, GONE_GRACE_MS);
    this.over({ kind: "gone", message: "the supervisor's line closed" });
  }

  /** Ends the conversation and the container; whoever comes later is told the first reason. */
  over(death: SandboxDeath): void {
    const phase = this.#phase;
    if (phase.at === "over") return;
    const isOom = death.kind === "gone" && this.#memoryRanOut;
    const final: SandboxDeath = isOom ? { kind: "oom" } : death;
    this.#phase = { at: "over", death: final };
    if (phase.at === "busy") {
      phase.reject(new SandboxDied(final, phase.partial()));
      phase.onFed();
    }
    this.#end();
  }

  #end(): void {
    this.bridge.shut();
    if (this.#destroyed !== null) return;
    this.#destroyed = this.#endContainer();
    // Whoever calls `destroy` hears of a failure; where nobody does, the reaper is what is left.
    this.#destroyed.then(this.#letGo, this.#letGo); // B8
  }

  async #endContainer(): Promise<void> {
    const deadline = new Promise<"late">((resolve) => setTimeout(resolve, GONE_DEADLINE_MS, "late").unref());
    // Not waited for: an engine that does not answer would keep the line open for as long. What it fails of shows below.
    if (this.#exitStatus === null) void this.#line.kill().catch(() => this.#line.hangUp()); // B8
    const first = await Promise.race([this.gone.then(() => "gone" as const), deadline]); // B4
    this.#line.hangUp(); // B8: before a removal that may fail
    if (first === "late") await this.#line.remove();
  }
}

/** Waits for `told`, at most so long. */
async function waitFor(told: Promise<void>, mostMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, mostMs)));
  await Promise.race([told, late]);
  clearTimeout(timer);
}

async function* piecesOf(source: AsyncIterable<Buffer> | Iterable<Buffer>): AsyncGenerator<Buffer, void> {
  yield* source;
}
