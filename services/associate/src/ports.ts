/** What an attempt needs from the outside. One adapter per port; a test may drive any of them by hand. */
import type {
  BlobRef,
  DispatchBody,
  EvidenceFile,
  EvidenceManifest,
  EvidenceRef,
  FileMode,
  SandboxEvent,
  SandboxOutcome,
  SandboxRequest,
  TreeRef,
} from "@antiphon/contracts";
import type { Clock, Logger } from "@antiphon/runtime";
import type { WorkStep } from "./attempt/attempt.ts";
import type { BundleFile } from "./evidence/bundle.ts";

/** A file of a patch; `from`: where a rename or copy comes from. */
export interface PatchedFile {
  readonly path: string;
  readonly from: string | null;
}

export interface ChangedFile {
  readonly path: string;
  readonly mode: FileMode;
  readonly content: Buffer;
}

/** A change to a tree: files written over it, and paths removed from it. */
export interface Change {
  readonly files: readonly ChangedFile[];
  readonly deletions: readonly string[];
}

export const NO_CHANGE: Change = { files: [], deletions: [] };

export function isEmpty(change: Change): boolean {
  return change.files.length === 0 && change.deletions.length === 0;
}

/** A change as git writes it down. */
export interface Diff {
  readonly patch: string;
  readonly files: readonly string[];
}

/** Base trees on the trusted side (S5): nothing the sandbox says about git is believed. */
export interface BaseTrees {
  /** Brings the tree here, verified against its id. Repeats are free. */
  ensure(base: TreeRef, signal: AbortSignal): Promise<void>;
  /** null: the change leaves the tree as it is. */
  diff(base: TreeRef, change: Change): Promise<Diff | null>;
  /** Paths a patch touches; throws ANT_PATCH_* when the patch breaks a rule that needs no context. */
  check(patch: string, dispatch: DispatchBody): readonly PatchedFile[];
  /** Throws ANT_PATCH_DOES_NOT_APPLY. */
  apply(base: TreeRef, patch: string): Promise<Change>;
}

export interface Sandbox {
  /** Rejects with a coded error when no runner could do it; everything else is an outcome. */
  run(
    request: SandboxRequest,
    options: { signal: AbortSignal; patienceMs: number; onEvent(event: SandboxEvent): void },
  ): Promise<SandboxOutcome>;
}

/** Changed files on their way in and out of a sandbox, as tars in the evidence store. */
export interface Overlays {
  pack(files: readonly ChangedFile[]): Promise<BlobRef>;
  unpack(overlay: BlobRef | null): Promise<ChangedFile[]>;
}

export interface EvidenceStore {
  /** Content-addressed, so storing twice is storing once. */
  store(files: readonly BundleFile[]): Promise<EvidenceFile[]>;
  /** The last word of this attempt's holder stands. */
  publish(manifest: EvidenceManifest): Promise<EvidenceRef>;
}

export interface Recordings {
  /** The recorded session, or null. */
  find(replayKey: string): Promise<unknown>;
}

/** Live lines for people who watch; losing one loses nothing. */
export type Progress = (text: string) => void;

export interface AgentContext {
  readonly dispatch: DispatchBody;
  readonly epoch: number;
  readonly trees: BaseTrees;
  readonly recordings: Recordings;
}

/** What an agent wants to happen, as data. The attempt carries it out. */
export type Preparation =
  | {
      readonly kind: "work";
      /** Applied to the base tree before the first step. */
      readonly change: Change;
      readonly steps: readonly WorkStep[];
      /** False: it vouches for itself and skips the checks. */
      readonly selfVerify: boolean;
      /** A recorded session, for the provenance. */
      readonly transcript: string | null;
      /** What it does, in a few words. */
      readonly note: string;
    }
  | { readonly kind: "ask"; readonly questions: readonly string[] };

/**
 * An agent decides how a task is done; it never touches a tree, a sandbox or the journal itself.
 * `prepare` throws a coded error with disposition `attempt` or `terminal` when it cannot do the task.
 */
export interface Agent {
  prepare(context: AgentContext): Promise<Preparation>;
}

/** Everything an attempt may touch. */
export interface AttemptPorts {
  readonly trees: BaseTrees;
  readonly sandbox: Sandbox;
  readonly overlays: Overlays;
  readonly evidence: EvidenceStore;
  readonly recordings: Recordings;
  readonly progress: Progress;
  readonly clock: Clock;
  readonly log: Logger;
  newJobId(): string;
  /** How long a fault of the infrastructure is waited out, in milliseconds. */
  readonly patienceMs: number;
  /** What an image has installed, by the name it was asked for; probed once each. */
  readonly tools: Map<string, readonly string[]>;
}
