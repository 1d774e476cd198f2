/** One sandbox as the rest of the runner sees it. supervisor-conversation.ts holds the rules of its end. */
import type { Duplex } from "node:stream";
import type { SandboxMessage } from "@antiphon/contracts";
import { encodeFrame, type Frame } from "./frames.ts";
import type { Baseline, CollectBounds, Collected } from "../workspace/collected.ts";
import { OutputBound } from "./output-bound.ts";
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
import { readBeside, runTool, tryTool, TOOL_DEADLINE_MS, type Hear, type Tool } from "./supervisor-tools.ts";
import type { SupervisorLine } from "./supervisor-line.ts";
import type { SupervisorPack } from "./supervisor-pack.ts";
import { collectSelected, collectWhole, type SelectiveReading } from "../workspace/workspace-reading.ts";
import { WrittenReader } from "../workspace/written.ts";

const HELLO_DEADLINE_MS = 10_000;

/** Where a provider put the files of a sandbox. */
export interface Place {
  readonly home: string;
  /** /workspace is mounted over layers, and the supervisor can read the top alone. */
  readonly isLayered: boolean;
}

const IN_MEMORY: Place = { home: "/tmp", isLayered: false };

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

  /** The version of Landlock's rules that hold the code inside; 0: the kernel has none. */
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

  /** Closes our end of the stream, as the end of this process does. */
  hangUp(): void {
    this.#line.hangUp();
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
      const isTaken = ({ type, payload }: Frame) => type === "p" && payload.toString("latin1") === name;
      for (const question of [encodeFrame("F", Buffer.from(name, "latin1")), encodeFrame("P", content)])
        await this.#ask(question, this.#answer(HELLO_DEADLINE_MS, `about ${name}`, isTaken));
    }
    await this.#ask(encodeFrame("X"), this.greet());
  }

  #answer(timeoutMs: number, to: string, isAnswer: (frame: Frame) => boolean): Promise<true> {
    const hear = (frame: Frame): true => {
      if (isAnswer(frame)) return true;
      throw this.#words.protocol(`${frame.type} instead of an answer ${to}`);
    };
    return this.#words.begin({ timeoutMs, hear }).ended;
  }

  /** Writes `question` and waits for `answer`, which may settle while the write is pending. */
  async #ask(question: Buffer, answer: Promise<unknown>): Promise<void> {
    answer.catch(() => undefined); // the caller gets the rejection below
    await this.#words.write(question);
    await answer;
  }

  async run(command: Command): Promise<CommandExit> {
    const started = performance.now();
    const stdout = new OutputBound(command.keepBytes);
    const stderr = new OutputBound(command.keepBytes);
    const heard: NonNullable<Command["onOutput"]> = (stream, piece) => {
      (stream === "stdout" ? stdout : stderr).push(piece);
      const taken = command.onOutput?.(stream, piece);
      if (stdout.produced + stderr.produced > command.maxOutputBytes) this.#words.over({ kind: "output" });
      return taken;
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
    return !this.isPlain;
  }

  answer(text: string): void {
    this.#words.answer(text);
  }

  tell(message: SandboxMessage): boolean {
    return this.canAsk && this.#words.tell(message);
  }

  async putTar(tar: AsyncIterable<Buffer> | Buffer): Promise<void> {
    await runTool(this.#words, { what: ["tar", "-xf", "-", "-C", "/workspace"], stdin: tar });
  }

  async remove(paths: readonly string[]): Promise<void> {
    await runTool(this.#words, { what: ["xargs", "-0", "rm", "-rf", "--"], stdin: nulEnded(paths) });
  }

  async remember(
    baseline: Baseline,
    traced: readonly string[] = [],
    only: readonly string[] | null = null,
  ): Promise<void> {
    if (this.isPlain) return;
    const isWhole = only === null || this.#isLayered;
    const question = isWhole ? encodeFrame("M", nulEnded(traced)) : encodeFrame("A", nulEnded(only));
    const answer = this.#answer(TOOL_DEADLINE_MS, "to M", ({ type }) => type === "m");
    await this.#ask(question, answer);
    if (!this.#isLayered) this.#remembered = baseline;
  }

  compareWith(layer: Baseline): void {
    if (this.#isLayered) this.#remembered = layer;
  }

  async written(clear: boolean): Promise<Survey> {
    if (this.isPlain) return { written: null, cleared: false };
    const reader = new WrittenReader();
    const payload = clear ? "1" : "";
    const { exitCode } = await tryTool(this.#words, {
      what: "W",
      payload,
      hear: (piece) => reader.push(piece),
    });
    return { written: reader.result(), cleared: clear && exitCode === 0 };
  }

  collect(baseline: Baseline, bounds: CollectBounds): Promise<Collected> {
    const read = (what: Tool["what"], stdin: Buffer | null, hear: Hear) =>
      runTool(this.#words, { what, stdin, hear });
    if (!this.isPlain) return collectSelected(this.#selective(read), baseline, bounds);
    // The sealed supervisor opens what the code closed, and closes it again; here it stays open. Without a chmod, tar fails.
    const words = ["sh", "-c", "chmod -R u+rwX . 2>/dev/null; exec tar -cf - ."];
    return collectWhole({ whole: (hear) => read(words, null, hear) }, baseline, bounds);
  }

  peek(baseline: Baseline, bounds: CollectBounds): Promise<Collected> {
    const beside = this.#selective((type, paths, hear) => readBeside(this.#words, type, paths, hear));
    return collectSelected(beside, baseline, bounds);
  }

  #selective(read: (type: "L" | "U" | "T", paths: Buffer, hear: Hear) => Promise<void>): SelectiveReading {
    return {
      remembered: this.#remembered,
      isTop: this.#isLayered,
      look: (hear) => read(this.#isLayered ? "U" : "L", nulEnded([]), hear),
      take: (paths, hear) => read("T", nulEnded(paths), hear),
    };
  }

  async network(port: number, dial: () => Duplex): Promise<string | null> {
    if (this.isPlain) return "its image has no perl, which is needed to carry connections";
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
}

function nulEnded(paths: readonly string[]): Buffer {
  return Buffer.from(paths.map((path) => `${path}\0`).join(""), "utf8");
}
