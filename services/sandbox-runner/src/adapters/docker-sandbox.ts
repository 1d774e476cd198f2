/**
 * One sandbox: a running container and the framed conversation with the supervisor inside it.
 *
 * Lifecycle: idle -> busy -> idle ... -> over. `over` is final and holds the reason; everything that waits
 * is told at once, and the container is killed whatever it was doing.
 *
 * Invariants:
 *   B1  One command at a time, one attempt per container (S1): `over` never becomes anything else.
 *   B2  A deadline, too much output, a frame that is none, a closed stream: each ends the container, with a name.
 *   B3  Memory held for a command is its two output bounds and one frame, however fast it prints; a slow
 *       reader or writer is waited for, not queued for.
 *   B4  `destroy` resolves only when the engine says that the container is gone, or says why it is not.
 */
import type { Duplex } from "node:stream";
import { EngineDemux, FrameDecoder, encodeFrame, encodeStdin, type Frame } from "../core/frames.ts";
import { Collector, type Baseline, type CollectBounds, type Collected } from "../core/collected.ts";
import { OutputBound } from "../core/output-bound.ts";
import { Refusal } from "../core/refusal.ts";
import { encodeStep, parseExit, parseHello, type ExitWord, type Hello } from "../core/step-script.ts";
import { TarReader } from "../core/tar-reader.ts";
import { SandboxDied, type Command, type CommandExit, type Sandbox, type SandboxDeath } from "../ports.ts";
import type { Engine } from "./docker-engine.ts";
import { sha256Hasher } from "./sha256.ts";

const HELLO_DEADLINE_MS = 10_000;
const TAR_DEADLINE_MS = 60_000;
const GONE_DEADLINE_MS = 4_000;
/** The engine tells of an OOM kill a moment before or after the stream closes. */
const OOM_GRACE_MS = 300;
/** Node fires a longer timer at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
const TOOL_KEEP_BYTES = 16 * 1024;
const TOOL_ENV = { PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", LC_ALL: "C" };

interface Busy {
  readonly at: "busy";
  readonly onFrame: (frame: Frame) => void;
  readonly reject: (error: Error) => void;
  readonly partial: () => SandboxDied["partial"];
}

type Phase = { readonly at: "idle" } | Busy | { readonly at: "over"; readonly death: SandboxDeath };

export class DockerSandbox implements Sandbox {
  readonly id: string;
  readonly imageId: string;
  readonly gone: Promise<void>;
  readonly #engine: Engine;
  readonly #stream: Duplex;
  readonly #demux = new EngineDemux();
  readonly #frames = new FrameDecoder();
  readonly #complaints = new OutputBound(4096);
  readonly #since: number;
  #phase: Phase = { at: "idle" };
  #hello: Hello | null = null;
  #bootMs = 0;
  #memoryRanOut = false;
  #exitStatus: number | null = null;
  #destroyed: Promise<void> | null = null;

  constructor(
    engine: Engine,
    id: string,
    imageId: string,
    stream: Duplex,
    since: number,
    removed: Promise<number>,
  ) {
    this.#engine = engine;
    this.id = id;
    this.imageId = imageId;
    this.#stream = stream;
    this.#since = since;
    this.gone = removed.then((status) => {
      this.#exitStatus = status;
      this.#over({ kind: "gone", message: `the container ended with status ${status}` });
    });
    stream.on("data", (chunk: Buffer) => {
      this.#receive(chunk);
    });
    for (const event of ["end", "close", "error"]) stream.on(event, () => void this.#streamEnded());
  }

  get sealed(): boolean {
    return this.#hello?.sealed ?? false;
  }

  get landlock(): number {
    return this.#hello?.landlock ?? 0;
  }

  get bootMs(): number {
    return this.#bootMs;
  }

  /** The engine said that memory ran out in here. */
  memoryRanOut(): void {
    this.#memoryRanOut = true;
  }

  /** Waits for the supervisor's first word. */
  async greet(): Promise<void> {
    const hello = await this.#await<Hello>(HELLO_DEADLINE_MS, (resolve, reject) => (frame) => {
      const said = frame.type === "h" ? parseHello(frame.payload.toString("utf8")) : null;
      if (said === null) reject(this.#protocol(`the supervisor began with ${frame.type}`));
      else resolve(said);
    });
    this.#hello = hello;
    this.#bootMs = performance.now() - this.#since;
  }

  async run(command: Command): Promise<CommandExit> {
    const started = performance.now();
    const stdout = new OutputBound(command.keepBytes);
    const stderr = new OutputBound(command.keepBytes);
    const heard = (stream: "stdout" | "stderr", piece: Buffer): void => {
      (stream === "stdout" ? stdout : stderr).push(piece);
      command.onOutput?.(stream, piece);
      if (stdout.produced + stderr.produced > command.maxOutputBytes) this.#over({ kind: "output" }); // B2
    };
    const exit = await this.#execute(command, heard, () => ({
      stdout: stdout.finish(),
      stderr: stderr.finish(),
      durationMs: performance.now() - started,
    }));
    const durationMs = performance.now() - started;
    return { ...exit, durationMs, stdout: stdout.finish(), stderr: stderr.finish() };
  }

  async putTar(tar: AsyncIterable<Buffer> | Buffer): Promise<void> {
    await this.#tool(["tar", "-xf", "-", "-C", "/workspace"], tar);
  }

  async remove(paths: readonly string[]): Promise<void> {
    await this.#tool(
      ["xargs", "-0", "rm", "-rf", "--"],
      Buffer.from(paths.map((p) => `${p}\0`).join(""), "utf8"),
    );
  }

  async collect(baseline: Baseline, bounds: CollectBounds): Promise<Collected> {
    const collector = new Collector(baseline, bounds, sha256Hasher);
    const reader = new TarReader(collector);
    await this.#tool(["tar", "-cf", "-", "-C", "/workspace", "."], null, (piece) => {
      reader.push(piece);
    });
    reader.finish();
    return collector.result();
  }

  async assign(name: string): Promise<void> {
    await this.#engine.rename(this.id, name).catch(() => undefined);
  }

  destroy(why: SandboxDeath): Promise<void> {
    this.#over(why);
    return this.#destroyed ?? this.gone;
  }

  /** Drops the connection, as the end of this process would. */
  hangUp(): void {
    this.#stream.destroy();
  }

  /** Runs one of the image's own tools on the workspace; it has no say in what is made of its output. */
  async #tool(
    argv: readonly string[],
    stdin: AsyncIterable<Buffer> | Buffer | null,
    onStdout?: (piece: Buffer) => void,
  ): Promise<void> {
    const complaint = new OutputBound(TOOL_KEEP_BYTES);
    const step = { argv, cwd: "/workspace", env: TOOL_ENV, stdin, timeoutMs: TAR_DEADLINE_MS };
    const exit = await this.#execute(
      step,
      (stream, piece) => {
        if (stream === "stdout") onStdout?.(piece);
        else complaint.push(piece);
      },
      () => null,
    );
    if (exit.exitCode !== 0) {
      const said = complaint.finish(200).tail.trim();
      throw this.#protocol(`${argv[0] ?? ""} ended with ${exit.exitCode}: ${said}`);
    }
  }

  async #execute(
    step: Pick<Command, "argv" | "cwd" | "env" | "stdin" | "timeoutMs">,
    heard: (stream: "stdout" | "stderr", piece: Buffer) => void,
    partial: () => SandboxDied["partial"],
  ): Promise<ExitWord> {
    const text = encodeStep(this.#hello?.kind ?? "perl", step);
    if (text === null) throw this.#protocol("a command that cannot be said");
    const ended = this.#await<ExitWord>(
      step.timeoutMs,
      (resolve, reject) => (frame) => {
        if (frame.type === "o") heard("stdout", frame.payload);
        else if (frame.type === "e") heard("stderr", frame.payload);
        else if (frame.type === "x") {
          const exit = parseExit(frame.payload.toString("utf8"));
          if (exit === null) reject(this.#protocol("an exit frame that is none"));
          else resolve(exit);
        } else reject(this.#protocol(`${frame.type}: ${frame.payload.toString("utf8").slice(0, 200)}`));
      },
      partial,
    );
    // A failure to write shows in `ended` too, with a better name; both are awaited so neither is left over.
    const fed = this.#feed(text, step.stdin).catch((error: unknown) => {
      this.#over({ kind: "protocol", message: error instanceof Error ? error.message : String(error) });
    });
    const exit = await ended;
    await fed;
    return exit;
  }

  async #feed(run: Buffer, stdin: AsyncIterable<Buffer> | Buffer | null): Promise<void> {
    await this.#write(encodeFrame("R", run));
    if (Buffer.isBuffer(stdin)) for (const frame of encodeStdin(stdin)) await this.#write(frame);
    else if (stdin !== null) {
      for await (const piece of stdin) for (const frame of encodeStdin(piece)) await this.#write(frame);
    }
    await this.#write(encodeFrame("E"));
  }

  /** Resolves when the stream can take more (B3), or at once when there is nobody to write to. */
  async #write(bytes: Buffer): Promise<void> {
    if (this.#phase.at === "over" || this.#stream.destroyed) return;
    if (this.#stream.write(bytes)) return;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        this.#stream.off("drain", done);
        this.#stream.off("close", done);
        resolve();
      };
      this.#stream.on("drain", done);
      this.#stream.on("close", done);
    });
  }

  /** Takes the conversation until `resolve` or `reject` is called, or the sandbox is over. */
  #await<T>(
    deadlineMs: number,
    listener: (resolve: (value: T) => void, reject: (error: Error) => void) => (frame: Frame) => void,
    partial: () => SandboxDied["partial"] = () => null,
  ): Promise<T> {
    if (this.#phase.at !== "idle") {
      const death =
        this.#phase.at === "over" ? this.#phase.death : ({ kind: "protocol", message: "busy" } as const);
      return Promise.reject(new SandboxDied(death)); // B1
    }
    return new Promise<T>((resolvePromise, rejectPromise) => {
      const timer = setTimeout(
        () => {
          this.#over({ kind: "timeout" }); // B2
        },
        Math.min(deadlineMs, LONGEST_TIMER_MS),
      );
      const settle = (): void => {
        clearTimeout(timer);
        if (this.#phase.at === "busy") this.#phase = { at: "idle" };
      };
      const resolve = (value: T): void => {
        settle();
        resolvePromise(value);
      };
      const reject = (error: Error): void => {
        settle();
        rejectPromise(error);
      };
      this.#phase = { at: "busy", onFrame: listener(resolve, reject), reject, partial };
    });
  }

  #receive(chunk: Buffer): void {
    try {
      for (const piece of this.#demux.push(chunk)) {
        if (piece.stream === "stderr") this.#complaints.push(piece.bytes);
        else for (const frame of this.#frames.push(piece.bytes)) this.#dispatch(frame);
      }
    } catch (error) {
      // A refused archive is the job's end, not the conversation's fault; both end the container (B2).
      if (error instanceof Refusal) this.#fail(error);
      else this.#over({ kind: "protocol", message: error instanceof Error ? error.message : String(error) });
    }
  }

  #dispatch(frame: Frame): void {
    if (this.#phase.at === "busy") this.#phase.onFrame(frame);
    else if (this.#phase.at === "idle")
      this.#over({ kind: "protocol", message: `${frame.type} out of turn` });
  }

  #fail(error: Refusal): void {
    const phase = this.#phase;
    this.#phase = { at: "over", death: { kind: "protocol", message: error.message } };
    if (phase.at === "busy") phase.reject(error);
    this.#end();
  }

  #protocol(message: string): SandboxDied {
    const said = this.#complaints.finish(300).tail.trim();
    const death: SandboxDeath = { kind: "protocol", message: said === "" ? message : `${message} (${said})` };
    this.#over(death);
    return new SandboxDied(death);
  }

  /** The stream closed by itself: the container died, and the engine may know of what. */
  async #streamEnded(): Promise<void> {
    if (this.#phase.at === "over") return;
    await Promise.race([this.gone, new Promise((resolve) => setTimeout(resolve, OOM_GRACE_MS))]);
    this.#over({ kind: "gone", message: "the supervisor's stream closed" });
  }

  #over(death: SandboxDeath): void {
    const phase = this.#phase;
    if (phase.at === "over") return;
    const isOom = death.kind === "gone" && this.#memoryRanOut;
    const final: SandboxDeath = isOom ? { kind: "oom" } : death;
    this.#phase = { at: "over", death: final };
    if (phase.at === "busy") phase.reject(new SandboxDied(final, phase.partial()));
    this.#end();
  }

  #end(): void {
    if (this.#destroyed !== null) return;
    this.#destroyed = this.#endContainer();
    // Whoever calls `destroy` hears of a failure; where nobody does, the reaper is what is left.
    this.#destroyed.catch(() => undefined);
  }

  async #endContainer(): Promise<void> {
    const deadline = new Promise<"late">((resolve) => setTimeout(resolve, GONE_DEADLINE_MS, "late").unref());
    if (this.#exitStatus === null) await this.#engine.kill(this.id);
    const first = await Promise.race([this.gone.then(() => "gone" as const), deadline]); // B4
    if (first === "late") await this.#engine.remove(this.id);
    this.#stream.destroy();
  }
}
