/**
 * The ports of the sandbox-runner: the interface of a provider of sandboxes, independent of any engine. The providers in
 * providers/ implement it, and others can; testing/conformance.ts tests what must hold.
 */
import type { Duplex } from "node:stream";
import type { ProviderName, SandboxMessage } from "@antiphon/contracts";
import type { BoundedOutput } from "./conversation/output-bound.ts";
import type { Baseline, Collected, CollectBounds } from "./workspace/collected.ts";
import type { Layers, LayerStore } from "./layers/layer-store.ts";
import type { Written } from "./workspace/written.ts";

/** Bounds of one sandbox, all enforced by the engine or the kernel. */
export interface ContainerLimits {
  readonly memoryBytes: number;
  /** What the engine may have on disk of the sandbox's memory, and so of its workspace; 0: nothing. */
  readonly swapBytes: number;
  readonly cpus: number;
  readonly pids: number;
  readonly workspaceBytes: number;
  readonly workspaceInodes: number;
  readonly tmpBytes: number;
  readonly tmpInodes: number;
  /** runc, runsc or kata. */
  readonly runtime: string;
}

/** A volume of an engine, and where the engine has it. */
export interface LowerVolume {
  readonly name: string;
  readonly path: string;
}

/** What a container's /workspace is made of; see providers/workspace-mounts.ts. */
export type WorkspaceSource =
  | { readonly kind: "memory" }
  /** The container of a top: its /workspace is the tmpfs that a layered sandbox writes to. */
  | { readonly kind: "top" }
  /** The container that unpacks a layer: its /tmp is the new volume. `shared`: what it makes is for the users of a group. */
  | { readonly kind: "fill"; readonly volume: string; readonly shared: boolean }
  | {
      readonly kind: "layers";
      /** Where the engine has the top. */
      readonly top: string;
      readonly tree: LowerVolume | null;
      readonly environment: { readonly workspace: LowerVolume; readonly home: LowerVolume } | null;
    };

/** All that can vary between two sandboxes; see providers/container-spec.ts. */
export interface ContainerSpec {
  /** The engine's content id: sha256:... */
  readonly imageId: string;
  readonly limits: ContainerLimits;
  readonly labels: Readonly<Record<string, string>>;
  /** The user and group of everything in it, which no other live container of the engine has. */
  readonly uid: number;
  readonly workspace: WorkspaceSource;
  /** Id of the container whose network, which is none, this one shares. Absent: it has its own. */
  readonly beside?: string;
  /** Further directories in memory (beside/service-paths.ts). */
  readonly tmpfs?: readonly string[];
}

/** The facts about an image that must be known before it is run. */
export interface ImageFacts {
  readonly id: string;
  readonly env: readonly string[];
  readonly volumes: readonly string[];
  /** What a container of it runs by itself, and where; absent where a provider does not know it. */
  readonly start?: readonly string[];
  readonly directory?: string;
  /** Size on the engine; absent where a provider does not know it. */
  readonly bytes?: number;
}

export interface Command {
  readonly argv: readonly string[];
  /** Absolute, inside the sandbox. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: AsyncIterable<Buffer> | Buffer | null;
  readonly timeoutMs: number;
  /** What its time limit ends. Default: the whole sandbox. */
  readonly timeoutEnds?: "sandbox" | "command";
  /** Kills the command when it aborts; the sandbox lives on. */
  readonly signal?: AbortSignal;
  /** Bytes kept of each stream. */
  readonly keepBytes: number;
  /** Most bytes of both streams together. More ends the sandbox. */
  readonly maxOutputBytes: number;
  /**
   * The command may ask (`Sandbox.canAsk`): called with its question, and with a way to look at its output so far. Its time limit
   * rests until `Sandbox.answer`.
   */
  readonly onQuestion?: (text: string, soFar: () => PartialOutput | null) => void;
  /** A message of its inbox was read. */
  readonly onHeard?: (heard: Heard) => void;
  /**
   * Called with output as it comes. While a promise that it returned is pending, no more is read and the command waits.
   */
  readonly onOutput?: (stream: "stdout" | "stderr", piece: Buffer) => void | Promise<void>;
}

/** How one command ended, as its supervisor saw it. */
export interface CommandExit {
  readonly exitCode: number;
  readonly signal: number;
  /** The command alone was killed at its time limit (Command.timeoutEnds). */
  readonly timedOut: boolean;
  /** How many processes of this command the kernel killed because memory ran out. */
  readonly oomKills: number;
  /** How many forks were refused at the process limit. */
  readonly pidsRefused: number;
  /** Free space at its end, in the fuller of /workspace and /tmp; -1 when unknown. */
  readonly freeBytes: number;
  readonly freeInodes: number;
  readonly durationMs: number;
  readonly stdout: BoundedOutput;
  readonly stderr: BoundedOutput;
}

/** The output of a command up to now. */
export interface PartialOutput {
  readonly stdout: BoundedOutput;
  readonly stderr: BoundedOutput;
  readonly durationMs: number;
}

/** The reason why a sandbox ended before its work did. */
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
  /** The output of the running command up to then. */
  readonly partial: PartialOutput | null;

  constructor(death: SandboxDeath, partial: SandboxDied["partial"] = null) {
    super(`the sandbox ended: ${"message" in death ? death.message : death.kind}`);
    this.death = death;
    this.partial = partial;
  }
}

/**
 * What the supervisor has to remember of a workspace: nothing; what helps it to find the changes (`hint`); or every file
 * as it is now (`exact`).
 */
export type Remembering = "nothing" | "hint" | "exact";

/** What the commands in a sandbox did to its files. */
export interface Survey {
  /** Null when the workspace could not be read. */
  readonly written: Written | null;
  /** Nothing is left of what the commands made. Files that they changed are still changed. */
  readonly cleared: boolean;
}

/** A message that a command read, and at which look at the inbox. */
export interface Heard {
  readonly number: number;
  readonly look: number;
}

/** One container with one attempt in it. */
export interface Sandbox {
  readonly id: string;
  readonly imageId: string;
  /** True when the code inside cannot forge the supervisor's frames (supervisor/sealed-supervisor.ts). */
  readonly sealed: boolean;
  /** HOME of its commands. */
  readonly home: string;
  /** Time from the request to the supervisor's hello. */
  readonly bootMs: number;
  /** Its commands can ask a question and wait for the answer. */
  readonly canAsk?: boolean;
  /** Answers the question of the command that runs. */
  answer?(text: string): void;
  /** Puts a message into the inbox of its commands. False: it cannot be put there now. */
  tell?(message: SandboxMessage): boolean;
  /** One command at a time. Rejects with SandboxDied when the sandbox ended instead. */
  run(command: Command): Promise<CommandExit>;
  /** Unpacks an uncompressed tar into /workspace. */
  putTar(tar: AsyncIterable<Buffer> | Buffer): Promise<void>;
  /** Removes paths of /workspace. A missing path is no error. */
  remove(paths: readonly string[]): Promise<void>;
  /**
   * Announces that /workspace equals `baseline` now, which may make a later `collect` faster and never changes its
   * result. Call it before the first command. `only`: the paths that were put in or removed since the last time.
   */
  remember?(baseline: Baseline, traced?: readonly string[], only?: readonly string[]): Promise<void>;
  /**
   * Tells what the commands since `remember` did to the workspace. With `clear`, also removes what they made there and in
   * the temporary directories. A provider without it has sandboxes that run each command list once.
   */
  written?(clear: boolean): Promise<Survey>;
  /** Tells a sandbox over layers what its tree's layer holds, before the first command. Changes are found by it. */
  compareWith?(layer: Baseline): void;
  /** Compares the workspace with `baseline`. Rejects with a Refusal that names the broken rule. */
  collect(baseline: Baseline, bounds: CollectBounds): Promise<Collected>;
  /**
   * Like `collect`, while a command waits for the answer to its question. Rejects if it cannot be read then; that changes
   * nothing for the command.
   */
  peek?(baseline: Baseline, bounds: CollectBounds): Promise<Collected>;
  /**
   * Carries connections to 127.0.0.1:port inside the sandbox to `dial`. Resolves to null, or to the reason why it cannot.
   * A sandbox without a call to this, or of a provider without it, has no network of any kind.
   */
  network?(port: number, dial: () => Duplex): Promise<string | null>;
  /** Shows the new owner in the engine's own listing. A failure changes nothing. */
  assign(name: string): Promise<void>;
  /** Resolves when the container is gone, for any reason. */
  readonly gone: Promise<void>;
  /** Ends the sandbox at once. Idempotent; resolves when the container is gone. */
  destroy(why: SandboxDeath): Promise<void>;
}

export interface SandboxOrder {
  readonly imageId: string;
  readonly limits: ContainerLimits;
  readonly labels: Readonly<Record<string, string>>;
  /** The layers that /workspace and HOME are mounted over; absent for an empty /workspace. */
  readonly layers?: Layers;
  /** The id of another sandbox whose loopback interface it shares. Only for a provider with `hasGroups`. */
  readonly beside?: string;
  /** Further directories that its commands can write to. */
  readonly tmpfs?: readonly string[];
}

/** The limits that a provider can enforce. It reports those it cannot; everything else holds for every provider. */
export interface Enforced {
  readonly memory: boolean;
  readonly processes: boolean;
}

/** A source of sandboxes. */
export interface SandboxProvider {
  readonly name: ProviderName;
  /** True only for limits that were seen to hold; some providers know that only after their first sandbox. */
  readonly enforces: Enforced;
  /** True if a sandbox can share another one's loopback interface. */
  readonly hasGroups?: boolean;
  /** Absent where files can only be streamed into a sandbox. */
  readonly layers?: LayerStore | undefined;
  /** Starts a sandbox as ordered. Resolves when its supervisor has said hello. */
  start(order: SandboxOrder): Promise<Sandbox>;
  image(reference: string): Promise<ImageFacts | null>;
  ping(): Promise<void>;
}

/** A provider with everything that runs around it while a runner lives: its reaper, its watchdog, its connections. */
export interface ProviderHost {
  readonly provider: SandboxProvider;
  /** Ends everything around the provider. Holders must destroy their sandboxes first. */
  close(): Promise<void>;
}
