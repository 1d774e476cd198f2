/**
 * The framed conversation with the supervisor in a sandbox: it runs one command at a time and decides what ends it.
 *
 * Lifecycle: idle -> busy -> idle ... -> over. `over` is final and holds the reason; every pending request is rejected
 * with it at once, and the container is killed.
 *
 * A missed deadline, too much output, an invalid frame and a closed stream each end the container with a named reason.
 * A single command can be killed: its output so far is kept, and the sandbox and its files live on.
 *
 * Output that a listener has not taken delays its own command, never a later one.
 *
 * The end of the container is container-end.ts, and what a command says is read by command-run.ts.
 */
import type { SandboxMessage } from "@antiphon/contracts";
import { withDeadline } from "@antiphon/runtime";
import { InputWindow } from "./command-feed.ts";
import { ContainerEnd } from "./container-end.ts";
import { FrameDecoder, encodeFrame, type Frame } from "./frames.ts";
import { OutputBound } from "./output-bound.ts";
import { parseHello, type Hello } from "./step-script.ts";
import { SandboxDied, type PartialOutput, type SandboxDeath } from "../ports.ts";
import { NetBridge } from "./net-bridge.ts";
import { Peek } from "./peek.ts";
import { RestingDeadline } from "./resting-deadline.ts";
import type { SupervisorLine } from "./supervisor-line.ts";

/**
 * A busy provider reports the end of a container some time after its line closes, and an OOM kill some time after that.
 */
const GONE_GRACE_MS = 2_000;
const OOM_GRACE_MS = 500;
/** The exit status after SIGKILL, which the kernel also sends when memory runs out. */
const KILLED_STATUS = 137;
/** Time between the request to kill a command and its exit. After that the sandbox is ended. */
const KILL_GRACE_MS = 2_000;

interface Busy {
  readonly at: "busy";
  readonly onFrame: (frame: Frame) => void;
  readonly reject: (error: Error) => void;
  readonly partial: () => PartialOutput | null;
  readonly window: InputWindow;
  /** Listeners that have not taken their output yet. */
  slow: number;
  readonly deadline: RestingDeadline;
}

type Phase = { readonly at: "idle" } | Busy | { readonly at: "over"; readonly death: SandboxDeath };

export class SupervisorConversation {
  readonly gone: Promise<void>;
  readonly bridge = new NetBridge((frame) => void this.write(frame));
  readonly peek = new Peek();
  readonly #line: SupervisorLine;
  readonly #frames = new FrameDecoder();
  readonly #complaints = new OutputBound(4096);
  #phase: Phase = { at: "idle" };
  #hello: Hello | null = null;
  #memoryRanOut = false;
  #tellOfMemory: () => void = () => undefined;
  readonly #toldOfMemory = new Promise<void>((resolve) => (this.#tellOfMemory = resolve));
  readonly #end: ContainerEnd;
  /** A command is being killed, so its output no longer waits for its listener. */
  #killing = false;

  constructor(line: SupervisorLine) {
    this.#line = line;
    this.#end = new ContainerEnd(line);
    this.gone = line.gone.then(async (status) => {
      if (status === KILLED_STATUS && this.#phase.at !== "over")
        await withDeadline(OOM_GRACE_MS, this.#toldOfMemory, () => undefined);
      this.over({ kind: "gone", message: `the container ended with status ${status}` });
    });
    line.listen({
      stdout: (bytes) => this.#receive(bytes),
      stderr: (bytes) => this.#complaints.push(bytes),
      fault: (message) => this.over({ kind: "protocol", message }),
      closed: () => void this.#lineClosed(),
    });
  }

  /** The supervisor's hello, or null before it was received. */
  get hello(): Hello | null {
    return this.#hello;
  }

  /** The reason of the end, or null while the sandbox lives. */
  get death(): SandboxDeath | null {
    return this.#phase.at === "over" ? this.#phase.death : null;
  }

  /** Resolves when the container is gone. */
  get destroyed(): Promise<void> {
    return this.#end.ended ?? this.gone;
  }

  /** See ContainerEnd. */
  get letGo(): Promise<void> {
    return this.#end.letGo;
  }

  /** To be called when the provider reports that the sandbox ran out of memory. */
  memoryRanOut(): void {
    this.#memoryRanOut = true;
    this.#tellOfMemory();
  }

  /** Waits for the supervisor's hello. */
  async greet(deadlineMs: number): Promise<void> {
    this.#hello = await this.await<Hello>(deadlineMs, (resolve, reject) => (frame) => {
      const said = frame.type === "h" ? parseHello(frame.payload.toString("utf8")) : null;
      if (said === null) reject(this.protocol(`the supervisor began with ${frame.type}`));
      else resolve(said);
    });
  }

  /** True for a supervisor that takes its input frame by frame. */
  get isPlain(): boolean {
    return this.#hello?.kind === "sh";
  }

  /** While a person is asked. */
  restDeadline(): void {
    if (this.#phase.at === "busy") this.#phase.deadline.rest();
  }

  /** Answers the question of the command that runs. */
  answer(text: string): void {
    if (this.#phase.at !== "busy") return;
    this.#phase.deadline.resume();
    void this.write(encodeFrame("H", `${text}\n`));
  }

  /** The supervisor's own work while a command waits for the answer to its question (peek.ts). False: it told nothing. */
  async look(payload: Buffer, deadlineMs: number, hear: (piece: Buffer) => void): Promise<boolean> {
    if (this.#phase.at !== "busy") return false;
    return this.peek.work(() => void this.write(encodeFrame("V", payload)), deadlineMs, hear);
  }

  /** Puts a message into the inbox of the commands. False: it cannot be put there now. */
  tell({ number, look, text }: SandboxMessage): boolean {
    if (this.#phase.at !== "busy" && this.#phase.at !== "idle") return false;
    void this.write(encodeFrame("B", `${number} ${look}\n${text}`));
    return true;
  }

  /** Stops reading from the line until the listener has taken its output. */
  waitFor(taken: Promise<void>): void {
    const busy = this.#phase;
    if (busy.at !== "busy" || this.#killing) return;
    busy.slow += 1;
    this.#line.pause();
    const next = (): void => {
      busy.slow -= 1;
      if (busy.slow === 0 && this.#phase === busy) this.#line.resume(); // the line may serve a later command by now
    };
    taken.then(next, next);
  }

  /**
   * Asks the supervisor to kill the command with its whole process tree. If it does not exit in time, the sandbox is
   * ended.
   */
  killCommand(): void {
    const busy = this.#phase;
    if (busy.at !== "busy" || this.#killing) return;
    this.#killing = true;
    this.#line.resume(); // the exit frame comes after output that no listener may take
    if (this.#hello?.kind === "perl") void this.write(encodeFrame("K"));
    setTimeout(() => {
      if (this.#phase === busy) this.over({ kind: "timeout" });
    }, KILL_GRACE_MS).unref();
  }

  /** Resolves when the line can take more, or at once when the sandbox is over. */
  async write(bytes: Buffer): Promise<void> {
    if (this.#phase.at !== "over") await this.#line.write(bytes);
  }

  /** Occupies the conversation until `resolve` or `reject` is called, or the sandbox is over. */
  await<T>(
    deadlineMs: number,
    listener: (resolve: (value: T) => void, reject: (error: Error) => void) => (frame: Frame) => void,
    partial: () => PartialOutput | null = () => null,
    onDeadline = () => this.over({ kind: "timeout" }),
    window = new InputWindow(this.isPlain),
  ): Promise<T> {
    if (this.#phase.at !== "idle") {
      const death =
        this.#phase.at === "over" ? this.#phase.death : ({ kind: "protocol", message: "busy" } as const);
      return Promise.reject(new SandboxDied(death));
    }
    return new Promise<T>((resolvePromise, rejectPromise) => {
      const deadline = new RestingDeadline(deadlineMs, onDeadline);
      const settle = (): void => {
        deadline.stop();
        window.close();
        this.#killing = false;
        this.peek.end(false);
        if (this.#phase.at !== "busy") return;
        if (this.#phase.slow > 0) this.#line.resume(); // the next command must not start paused
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
      this.#phase = { at: "busy", onFrame, reject, partial, window, slow: 0, deadline };
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
    if (phase.at === "busy" && frame.type === "w")
      phase.window.taken(Number(frame.payload.toString("latin1")));
    else if (phase.at === "busy") phase.onFrame(frame);
    else if (phase.at === "idle") this.over({ kind: "protocol", message: `${frame.type} out of turn` });
  }

  /** Ends the sandbox because the supervisor broke the protocol. */
  protocol(message: string): SandboxDied {
    const said = this.#complaints.finish(300).tail.trim();
    const death: SandboxDeath = { kind: "protocol", message: said === "" ? message : `${message} (${said})` };
    this.over(death);
    return new SandboxDied(death);
  }

  /** The line closed before anything ended it: the container died, and its provider may know why. */
  async #lineClosed(): Promise<void> {
    if (this.#phase.at === "over") return;
    await withDeadline(GONE_GRACE_MS, this.gone, () => undefined);
    this.over({ kind: "gone", message: "the supervisor's line closed" });
  }

  /** Ends the conversation and the container. Later callers get the first reason. */
  over(death: SandboxDeath): void {
    const phase = this.#phase;
    if (phase.at === "over") return; // sandbox-runner/S3: a container that ended is never used again
    const isOom = death.kind === "gone" && this.#memoryRanOut;
    const final: SandboxDeath = isOom ? { kind: "oom" } : death;
    this.#phase = { at: "over", death: final };
    if (phase.at === "busy") phase.reject(new SandboxDied(final, phase.partial()));
    this.bridge.shut();
    this.#end.begin(this.gone);
  }
}
