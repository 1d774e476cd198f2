/**
 * The ports of the sandbox-runner: what a provider of sandboxes offers, in terms no engine appears in.
 * The providers in providers/ implement them, and so may anybody's: testing/conformance.ts says what must hold.
 */
import type { Duplex } from "node:stream";
import type { ProviderName } from "./providers/provider-rules.ts";
import type { BoundedOutput } from "./conversation/output-bound.ts";
import type { Baseline, Collected, CollectBounds } from "./workspace/collected.ts";

/** Bounds of one sandbox, all enforced by the engine or the kernel. */
export interface ContainerLimits {
  readonly memoryBytes: number;
  readonly cpus: number;
  readonly pids: number;
  readonly workspaceBytes: number;
  readonly workspaceInodes: number;
  readonly tmpBytes: number;
  readonly tmpInodes: number;
  /** runc, runsc or kata (S6). */
  readonly runtime: string;
}

/** All that can vary between two sandboxes; see providers/container-spec.ts. */
export interface ContainerSpec {
  /** The engine's content id: sha256:... */
  readonly imageId: string;
  readonly limits: ContainerLimits;
  readonly labels: Readonly<Record<string, string>>;
}

/** What must be known of an image before it is run. */
export interface ImageFacts {
  readonly id: string;
  readonly env: readonly string[];
  readonly volumes: readonly string[];
  /** On the engine; absent where a provider cannot tell. */
  readonly bytes?: number;
}

export interface Command {
  readonly argv: readonly string[];
  /** Absolute, inside the sandbox. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: AsyncIterable<Buffer> | Buffer | null;
  readonly timeoutMs: number;
  /** What the end of its time takes with it. Default: the whole sandbox. */
  readonly timeoutEnds?: "sandbox" | "command";
  /** Kills the command when it aborts; the sandbox lives on. */
  readonly signal?: AbortSignal;
  /** Kept per stream. */
  readonly keepBytes: number;
  /** Produced by both streams together; more ends the sandbox. */
  readonly maxOutputBytes: number;
  /** Hears output as it comes. While a promise it answered is open, no more is read and the command waits. */
  readonly onOutput?: (stream: "stdout" | "stderr", piece: Buffer) => void | Promise<void>;
}

/** How one command ended, as its supervisor saw it. */
export interface CommandExit {
  readonly exitCode: number;
  readonly signal: number;
  /** Killed at its time, by itself (Command.timeoutEnds). */
  readonly timedOut: boolean;
  /** Processes of this command killed by the kernel for want of memory. */
  readonly oomKills: number;
  /** Forks refused at the process limit. */
  readonly pidsRefused: number;
  /** Room left when it ended, in the fuller of /workspace and /tmp; -1: not known. */
  readonly freeBytes: number;
  readonly freeInodes: number;
  readonly durationMs: number;
  readonly stdout: BoundedOutput;
  readonly stderr: BoundedOutput;
}

/** Why a sandbox is over before its work was. */
export type SandboxDeath =
  | { readonly kind: "timeout" }
  | { readonly kind: "oom" }
  | { readonly kind: "canceled"; readonly reason: string }
  | { readonly kind: "output" }
  | { readonly kind: "protocol"; readonly message: string }
  | { readonly kind: "gone"; readonly message: string };

export class SandboxDied extends Error {
  override readonly name = "SandboxDied";
  readonly death: SandboxDeath;
  /** What the command that was running had printed. */
  readonly partial: {
    readonly stdout: BoundedOutput;
    readonly stderr: BoundedOutput;
    readonly durationMs: number;
  } | null;

  constructor(death: SandboxDeath, partial: SandboxDied["partial"] = null) {
    super(`the sandbox ended: ${"message" in death ? death.message : death.kind}`);
    this.death = death;
    this.partial = partial;
  }
}

/** One container with one attempt in it (S1). */
export interface Sandbox {
  readonly id: string;
  readonly imageId: string;
  /** True when the code inside cannot forge what the supervisor says (supervisor/sealed-supervisor.ts, P2). */
  readonly sealed: boolean;
  /** Ask of it to the first word of its supervisor. */
  readonly bootMs: number;
  /** One command at a time. Rejects with SandboxDied when the sandbox ended instead. */
  run(command: Command): Promise<CommandExit>;
  /** Unpacks an uncompressed tar into /workspace. */
  putTar(tar: AsyncIterable<Buffer> | Buffer): Promise<void>;
  /** Removes paths of /workspace; one that is not there is no fault. */
  remove(paths: readonly string[]): Promise<void>;
  /** /workspace is as `baseline` now: later comparing may use it. Before the first command; it changes no result. */
  remember?(baseline: Baseline): Promise<void>;
  /** Tells what differs from `baseline`; rejects with Refusal by a named rule. */
  collect(baseline: Baseline, bounds: CollectBounds): Promise<Collected>;
  /**
   * Makes connections to 127.0.0.1:port inside come out of `dial`; null, or why it cannot. Without it, and where a
   * provider does not have it, there is no network of any kind.
   */
  network?(port: number, dial: () => Duplex): Promise<string | null>;
  /** Says in the engine's own listing whose it is now; a failure changes nothing. */
  assign(name: string): Promise<void>;
  /** Resolves when the container is gone, for whatever reason. */
  readonly gone: Promise<void>;
  /** Ends it at once. Idempotent; resolves when the container is gone. */
  destroy(why: SandboxDeath): Promise<void>;
}

export interface SandboxOrder {
  readonly imageId: string;
  readonly limits: ContainerLimits;
  readonly labels: Readonly<Record<string, string>>;
}

/** Which limits a provider can hold a sandbox to. What it cannot, it says; the rest holds everywhere. */
export interface Enforced {
  readonly memory: boolean;
  readonly processes: boolean;
}

/** Where sandboxes come from. */
export interface SandboxProvider {
  readonly name: ProviderName;
  /** True only for what was seen to hold; for a provider that has to ask, after its first sandbox. */
  readonly enforces: Enforced;
  /** Started, as ordered, empty, with a supervisor that has said hello. */
  start(order: SandboxOrder): Promise<Sandbox>;
  image(reference: string): Promise<ImageFacts | null>;
  ping(): Promise<void>;
}

/** A provider and all that must go on around it while a runner lives: its reaper, its watchdog, its connections. */
export interface ProviderHost {
  readonly provider: SandboxProvider;
  /** Ends what goes on around it; sandboxes that are held are their holders' to destroy first. */
  close(): Promise<void>;
}
