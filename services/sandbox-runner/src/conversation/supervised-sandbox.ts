/**
 * One sandbox as the rest of the runner sees it. supervisor-conversation.ts holds the conversation and the rules of its
 * end.
 */
import type { Duplex } from "node:stream";
import type { SandboxMessage } from "@antiphon/contracts";
import { encodeFrame } from "./frames.ts";
import type { Baseline, CollectBounds, Collected } from "../workspace/collected.ts";
import { OutputBound } from "./output-bound.ts";
import { Refusal } from "../workspace/refusal.ts";
import {
  SandboxDied,
  type Command,
  type CommandExit,
  type PartialOutput,
  type Sandbox,
  type SandboxDeath,
  type Survey,
} from "../ports.ts";
import { runCommand } from "./command-run.ts";
import { SupervisorConversation } from "./supervisor-conversation.ts";
import type { SupervisorLine } from "./supervisor-line.ts";
import type { SupervisorPack } from "./supervisor-pack.ts";
import { collectSelected, collectWhole } from "../workspace/workspace-reading.ts";
import { WrittenReader } from "../workspace/written.ts";

const HELLO_DEADLINE_MS = 10_000;
const TAR_DEADLINE_MS = 60_000;
/** Nothing of a step is served while the supervisor reads beside it. */
const PEEK_DEADLINE_MS = 20_000;
const TOOL_KEEP_BYTES = 16 * 1024;
const TOOL_ENV = { PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", LC_ALL: "C" };

/** Where a provider put the files of a sandbox. */
export interface Place {
  readonly home: string;
  /** /workspace is mounted over layers, and the supervisor can read the top alone. */
  readonly isLayered: boolean;
}

const IN_MEMORY: Place = { home: "/tmp", isLayered: false };
type Hear = (piece: Buffer) => void;
type Stdin = AsyncIterable<Buffer> | Buffer | null;
/** A tool of the image, or work that the supervisor does itself. */
type Tool = readonly string[] | { readonly type: "L" | "T" | "U" | "W"; readonly payload?: string };

export class SupervisedSandbox implements Sandbox {
  readonly id: string;
  readonly imageId: string;
  readonly home: string;
  readonly gone: Promise<void>;
  /** See SupervisorConversation. */
  readonly letGo: Promise<void>;
  readonly #line: SupervisorLine;
  readonly #words: SupervisorConversation;
  readonly #since: number;
  readonly #isLayered: boolean;
  #bootMs = 0;
  /** The baseline that the supervisor compares the workspace with. */
  #remembered: Baseline = new Map();

  /** `since`: the time of the request, on the clock of performance.now. */
  constructor(line: SupervisorLine, imageId: string, since: number, { home, isLayered } = IN_MEMORY) {
    this.#line = line;
    this.home = home;
    this.#isLayered = isLayered;
    this.#words = new SupervisorConversation(line);
    this.id = line.id;
    this.imageId = imageId;
    this.gone = this.#words.gone;
    this.letGo = this.#words.letGo;
    this.#since = since;
  }

  get sealed(): boolean {
    return this.#words.hello?.sealed ?? false;
  }

  get landlock(): number {
    return this.#words.hello?.landlock ?? 0;
  }

  get bootMs(): number {
    return this.#bootMs;
  }

  /** To be called when the provider reports that the sandbox ran out of memory. */
  memoryRanOut(): void {
    this.#words.memoryRanOut();
  }

  /** Waits for the supervisor's hello. */
  async greet(): Promise<void> {
    await this.#words.greet(HELLO_DEADLINE_MS);
    this.#bootMs = performance.now() - this.#since;
  }

  /** True for a supervisor whose frames the code inside could forge. */
  get isPlain(): boolean {
    return this.#words.hello?.kind === "sh";
  }

  /** Replaces a plain supervisor by the sealed one. Resolves when the sealed one has said hello. */
  async promote(pack: SupervisorPack): Promise<void> {
    for (const { name, content } of pack) {
      await this.#give("F", Buffer.from(name, "latin1"), name);
      await this.#give("P", content, name);
    }
    await this.#ask(this.greet(), encodeFrame("X"));
  }

  async #give(type: "F" | "P", payload: Buffer, name: string): Promise<void> {
    const taken = this.#words.await<void>(HELLO_DEADLINE_MS, (resolve, reject) => (frame) => {
      if (frame.type === "p" && frame.payload.toString("latin1") === name) resolve();
      else reject(this.#words.protocol(`${frame.type} instead of an answer about ${name}`));
    });
    await this.#ask(taken, encodeFrame(type, payload));
  }

  /** Writes `bytes` and waits for `answer`, which may settle while the write is pending. */
  async #ask(answer: Promise<void>, bytes: Buffer): Promise<void> {
    answer.catch(() => undefined); // the caller gets the rejection below
    await this.#words.write(bytes);
    return answer;
  }

  async run(command: Command): Promise<CommandExit> {
    const started = performance.now();
    const stdout = new OutputBound(command.keepBytes);
    const stderr = new OutputBound(command.keepBytes);
    const heard = (stream: "stdout" | "stderr", piece: Buffer): void => {
      (stream === "stdout" ? stdout : stderr).push(piece);
      const taken = command.onOutput?.(stream, piece);
      if (taken instanceof Promise) this.#words.waitFor(taken); // sandbox-runner/S10
      if (stdout.produced + stderr.produced > command.maxOutputBytes) this.#words.over({ kind: "output" });
    };
    const soFar = (): PartialOutput => ({
      stdout: stdout.finish(),
      stderr: stderr.finish(),
      durationMs: performance.now() - started,
    });
    const exit = await runCommand(this.#words, command, { heard, soFar });
    return { ...exit, ...soFar() };
  }

  get canAsk(): boolean {
    return this.#words.hello?.kind === "perl";
  }

  answer(text: string): void {
    this.#words.answer(text);
  }

  tell(message: SandboxMessage): boolean {
    return this.canAsk && this.#words.tell(message);
  }

  async putTar(tar: AsyncIterable<Buffer> | Buffer): Promise<void> {
    await this.#tool(["tar", "-xf", "-", "-C", "/workspace"], tar);
  }

  async remove(paths: readonly string[]): Promise<void> {
    await this.#tool(["xargs", "-0", "rm", "-rf", "--"], nulEnded(paths));
  }

  async remember(
    baseline: Baseline,
    traced: readonly string[] = [],
    only: readonly string[] | null = null,
  ): Promise<void> {
    if (this.#words.hello?.kind !== "perl") return;
    const done = this.#words.await<void>(TAR_DEADLINE_MS, (resolve, reject) => (frame) => {
      if (frame.type === "m") resolve();
      else reject(this.#words.protocol(`${frame.type} instead of an answer to M`));
    });
    const isWhole = only === null || this.#isLayered;
    await this.#ask(done, isWhole ? encodeFrame("M", nulEnded(traced)) : encodeFrame("A", nulEnded(only)));
    if (!this.#isLayered) this.#remembered = baseline;
  }

  compareWith(layer: Baseline): void {
    if (this.#isLayered) this.#remembered = layer;
  }

  async written(clear: boolean): Promise<Survey> {
    if (this.#words.hello?.kind !== "perl") return { written: null, cleared: false };
    const reader = new WrittenReader();
    const status = await this.#execute({ type: "W", payload: clear ? "1" : "" }, null, (piece) => {
      reader.push(piece);
    });
    return { written: reader.result(), cleared: clear && status.exitCode === 0 };
  }

  collect(baseline: Baseline, bounds: CollectBounds): Promise<Collected> {
    if (this.#words.hello?.kind !== "perl") {
      // The sealed supervisor opens what the code closed, and closes it again; here it stays open. Without a chmod, tar fails.
      const words = ["sh", "-c", "chmod -R u+rwX . 2>/dev/null; exec tar -cf - ."];
      return collectWhole({ whole: (hear) => this.#tool(words, null, hear) }, baseline, bounds);
    }
    const reading = {
      remembered: this.#remembered,
      isTop: this.#isLayered,
      look: (hear: (piece: Buffer) => void) => this.#tool({ type: this.#isLayered ? "U" : "L" }, null, hear),
      take: (paths: readonly string[], hear: (piece: Buffer) => void) =>
        this.#tool({ type: "T" }, nulEnded(paths), hear),
    };
    return collectSelected(reading, baseline, bounds);
  }

  peek(baseline: Baseline, bounds: CollectBounds): Promise<Collected> {
    const asked = async (type: "L" | "T" | "U", paths: readonly string[], hear: Hear): Promise<void> => {
      let refusal: Refusal | null = null;
      const heard = (piece: Buffer): void => {
        if (refusal !== null) return;
        try {
          hear(piece);
        } catch (error) {
          if (!(error instanceof Refusal)) throw error;
          refusal = error;
        }
      };
      const payload = Buffer.concat([Buffer.from(type, "latin1"), nulEnded(paths)]);
      const isDone = await this.#words.look(payload, PEEK_DEADLINE_MS, heard);
      if (refusal !== null) throw refusal as Refusal;
      if (!isDone) throw new Error("the workspace could not be read beside the command that waits");
    };
    const reading = {
      remembered: this.#remembered,
      isTop: this.#isLayered,
      look: (hear: Hear) => asked(this.#isLayered ? "U" : "L", [], hear),
      take: (paths: readonly string[], hear: Hear) => asked("T", paths, hear),
    };
    return collectSelected(reading, baseline, bounds);
  }

  async network(port: number, dial: () => Duplex): Promise<string | null> {
    if (this.#words.hello?.kind !== "perl")
      return "its image has no perl, which is needed to carry connections";
    const fault = await this.#words.bridge.open(port, dial);
    const { death } = this.#words;
    if (fault !== null && death !== null) throw new SandboxDied(death); // Report the death, not a missing network.
    return fault;
  }

  async assign(name: string): Promise<void> {
    await this.#line.rename(name).catch(() => undefined);
  }

  destroy(why: SandboxDeath): Promise<void> {
    this.#words.over(why);
    return this.#words.destroyed;
  }

  /** Drops the connection, as the end of this process would. */
  hangUp(): void {
    this.#line.hangUp();
  }

  /** Runs the supervisor's own work or one of the image's tools. The output of either is judged by the caller. */
  async #tool(what: Tool, stdin: Stdin, onStdout?: (piece: Buffer) => void): Promise<void> {
    const { exitCode, complaint } = await this.#execute(what, stdin, onStdout);
    if (exitCode === 0) return;
    const name = "type" in what ? "the supervisor's reading" : (what[0] ?? "");
    throw this.#words.protocol(`${name} ended with ${exitCode}: ${complaint}`);
  }

  async #execute(
    what: Tool,
    stdin: Stdin,
    onStdout?: (piece: Buffer) => void,
  ): Promise<{ exitCode: number; complaint: string }> {
    const complaint = new OutputBound(TOOL_KEEP_BYTES);
    const argv = "type" in what ? [] : what;
    const own = "type" in what ? encodeFrame(what.type, Buffer.from(what.payload ?? "")) : undefined;
    const step = { argv, own, cwd: "/workspace", env: TOOL_ENV, stdin, timeoutMs: TAR_DEADLINE_MS };
    let refusal: Refusal | null = null;
    const heard = (stream: "stdout" | "stderr", piece: Buffer): void => {
      if (stream === "stderr") complaint.push(piece);
      if (stream === "stderr" || refusal !== null) return;
      try {
        onStdout?.(piece);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        refusal = error; // a refusal ends the tool, not the sandbox
        this.#words.killCommand();
      }
    };
    const { exitCode } = await runCommand(this.#words, step, { heard, soFar: () => null });
    if (refusal !== null) throw refusal as Refusal;
    return { exitCode, complaint: complaint.finish(200).tail.trim() };
  }
}

function nulEnded(paths: readonly string[]): Buffer {
  return Buffer.from(paths.map((path) => `${path}\0`).join(""), "utf8");
}
