/**
 * The framed conversation with the supervisor in a sandbox: it runs one command at a time and decides what ends it.
 *
 * Lifecycle: idle -> busy -> idle ... -> over. `over` is final and holds the reason; every pending request is rejected
 * with it at once, and the container is killed.
 *
 * A missed deadline, too much output, an invalid frame and a closed stream each end the container with a named reason.
 *
 * Each command is a turn of it (turn.ts). container-end.ts waits for the end of the container, and command-run.ts reads the output of a
 * command.
 */
import type { SandboxMessage } from "@antiphon/contracts";
import { withDeadline } from "@antiphon/runtime";
import { ContainerEnd } from "./container-end.ts";
import { FrameDecoder, encodeFrame, type Frame } from "./frames.ts";
import { OutputBound } from "./output-bound.ts";
import { parseHello, type Hello } from "./step-script.ts";
import { SandboxDied, type SandboxDeath } from "../ports.ts";
import { NetBridge } from "./net-bridge.ts";
import type { SupervisorLine } from "./supervisor-line.ts";
import { Turn, type Asked } from "./turn.ts";

/**
 * A busy provider reports the end of a container some time after its line closes, and an OOM kill some time after that.
 */
const GONE_GRACE_MS = 2_000;
const OOM_GRACE_MS = 500;
/** The exit status after SIGKILL, which the kernel also sends when memory runs out. */
const KILLED_STATUS = 137;

type Phase =
  | { readonly at: "idle" }
  | { readonly at: "busy"; readonly turn: Omit<Turn<unknown>, "ended"> }
  | { readonly at: "over"; readonly death: SandboxDeath };

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
  readonly #end: ContainerEnd;

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
    const { ended } = this.begin({
      timeoutMs: deadlineMs,
      hear: ({ type, payload }) => {
        const said = type === "h" ? parseHello(payload.toString("utf8")) : null;
        if (said === null) throw this.protocol(`the supervisor began with ${type}`);
        return said;
      },
    });
    this.#hello = await ended;
  }

  /** True for a supervisor that takes its input frame by frame. */
  get isPlain(): boolean {
    return this.#hello?.kind === "sh";
  }

  /** Answers the question of the command that runs. */
  answer(text: string): void {
    if (this.#phase.at !== "busy") return;
    this.#phase.turn.deadline.resume();
    void this.write(encodeFrame("H", `${text}\n`));
  }

  /** The supervisor's own work while a command waits for the answer to its question (peek.ts). False: it told nothing. */
  async look(payload: Buffer, deadlineMs: number, hear: (piece: Buffer) => void): Promise<boolean> {
    if (this.#phase.at !== "busy") return false;
    return this.#phase.turn.peek.work(() => void this.write(encodeFrame("V", payload)), deadlineMs, hear);
  }

  /** Puts a message into the inbox of the commands. False: it cannot be put there now. */
  tell({ number, look, text }: SandboxMessage): boolean {
    if (this.#phase.at !== "busy" && this.#phase.at !== "idle") return false;
    void this.write(encodeFrame("B", `${number} ${look}\n${text}`));
    return true;
  }

  /** Resolves when the line can take more, or at once when the sandbox is over. */
  async write(bytes: Buffer): Promise<void> {
    if (this.#phase.at !== "over") await this.#line.write(bytes);
  }

  /** Occupies the conversation until the turn has its answer, or the sandbox is over. */
  begin<T>(asked: Asked<T>): Turn<T> {
    const turn = new Turn(asked, {
      line: this.#line,
      isPlain: this.isPlain,
      kill: () => void this.write(encodeFrame("K")),
      timeOut: () => this.over({ kind: "timeout" }),
    });
    const phase = this.#phase;
    if (phase.at === "idle") this.#phase = { at: "busy", turn };
    else
      turn.die(
        () => new SandboxDied(phase.at === "over" ? phase.death : { kind: "protocol", message: "busy" }),
      );
    return turn;
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
      phase.turn.window.taken(Number(frame.payload.toString("latin1")));
    else if (phase.at === "busy" && phase.turn.take(frame)) this.#phase = { at: "idle" };
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
    if (phase.at === "busy") phase.turn.die((partial) => new SandboxDied(final, partial));
    this.bridge.shut();
    this.#end.begin(this.gone);
  }
}
