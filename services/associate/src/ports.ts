/** The ports of an attempt. Each has one adapter; a test may replace any of them. */
import type {
  BlobRef,
  DispatchBody,
  EvidenceFile,
  EvidenceManifest,
  EvidenceRef,
  FileMode,
  OCCompileInput,
  PackAsks,
  PackTranscript,
  PackUsage,
  SandboxEvent,
  SandboxOutcome,
  SandboxRequest,
  TreeRef,
} from "@antiphon/contracts";
import type { Clock, JobAnswers, JobMessages, Logger } from "@antiphon/runtime";
import type { Earlier } from "./attempt/brief.ts";
import type { Told } from "./attempt/mailbox.ts";
import type { HeldJobs } from "./attempt/held-jobs.ts";
import type { WorkStep } from "./attempt/attempt.ts";
import type { BundleFile } from "./evidence/bundle.ts";
import type { KeptSession } from "./evidence/compile-answer.ts";

/** A file of a patch. `from` is the source of a rename or copy. */
export interface PatchedFile {
  readonly path: string;
  readonly from: string | null;
}

export interface ChangedFile {
  readonly path: string;
  readonly mode: FileMode;
  readonly content: Buffer;
}

/** A change to a tree: files to write and paths to remove. */
export interface Change {
  readonly files: readonly ChangedFile[];
  readonly deletions: readonly string[];
}

export const NO_CHANGE: Change = { files: [], deletions: [] };

export function isEmpty(change: Change): boolean {
  return change.files.length === 0 && change.deletions.length === 0;
}

/** A change as a git patch. */
export interface Diff {
  readonly patch: string;
  readonly files: readonly string[];
}

/** Base trees and git, on the trusted side: git data from a sandbox is never used (associate/A6). */
export interface BaseTrees {
  /** Fetches the tree and verifies it against its id. Does nothing when the tree is here already. */
  ensure(base: TreeRef, signal: AbortSignal): Promise<void>;
  /** Null: the change leaves the tree as it is. */
  diff(base: TreeRef, change: Change): Promise<Diff | null>;
  /** The files that a patch touches. Throws ANT_PATCH_* when the patch breaks a rule that needs no context. */
  check(patch: string, dispatch: DispatchBody): readonly PatchedFile[];
  /** Throws ANT_PATCH_DOES_NOT_APPLY. */
  apply(base: TreeRef, patch: string): Promise<Change>;
}

export interface Sandbox {
  /** Rejects with a coded error when no runner could run the job; any other end is an outcome. */
  run(
    request: SandboxRequest,
    options: {
      signal: AbortSignal;
      /** Ends the job with an outcome, if one can be had in a short time. */
      stop: AbortSignal;
      patienceMs: number;
      answers: JobAnswers;
      messages: JobMessages;
      onEvent(event: SandboxEvent): void;
    },
  ): Promise<SandboxOutcome>;
}

/** Changed files on their way in and out of a sandbox, as tars in the evidence store. */
export interface Overlays {
  pack(files: readonly ChangedFile[]): Promise<BlobRef>;
  unpack(overlay: BlobRef | null): Promise<ChangedFile[]>;
}

export interface EvidenceStore {
  /** Files are stored under their digests, so a second call changes nothing. */
  store(files: readonly BundleFile[]): Promise<EvidenceFile[]>;
  /** A later manifest of the same attempt replaces an earlier one. */
  publish(manifest: EvidenceManifest): Promise<EvidenceRef>;
  /** The diff of an earlier attempt as text; null: it changed nothing, or left no evidence. */
  diffOf(runId: string, taskId: string, epoch: number): Promise<string | null>;
  /** The bundle of an earlier attempt; null: it left none. */
  bundleOf(runId: string, taskId: string, epoch: number): Promise<EvidenceManifest | null>;
  text(file: EvidenceFile): Promise<string>;
}

export interface Recordings {
  /** The recorded session, or null. */
  find(replayKey: string): Promise<unknown>;
}

/** Which attempt answered a request of an agent that compiles, and where its session is. */
export interface SessionOrigin {
  readonly run: string;
  readonly task: string;
  readonly epoch: number;
  readonly blob: BlobRef;
}

/** Sessions of agents that compile, by the replay key of their request. */
export interface Compiled {
  /** A session whose change the clean room has passed; null: there is none. */
  find(replayKey: string): Promise<KeptSession | null>;
  /** It can be found once its verdict is PASS. One that can be found already stays. */
  keep(replayKey: string, origin: SessionOrigin): Promise<void>;
}

/** @throws AntiphonError when they cannot be made again */
export type ExportAgain = (
  attempt: { readonly runId: string; readonly taskId: string; readonly epoch: number },
  signal: AbortSignal,
) => Promise<void>;

/** Publishes a live line for people who watch. Lines may be lost without harm. */
export type Progress = (text: string) => void;

/** The earlier work that an agent is told about. */
export interface ToldBefore {
  /** The diff of the newest attempt before this one that left one; null: there is none. */
  readonly previousDiff: string | null;
  /** The attempt starts from that diff. */
  readonly isApplied: boolean;
  /** It ended with the question that was answered last. */
  readonly hasAsked: boolean;
  /** The change that a skill judges; null: the task is no skill. */
  readonly judged: string | null;
  /** What the tasks that it depends on have left. */
  readonly earlier: readonly Earlier[];
  /** What people have told attempts of the task so far. */
  readonly told: readonly Told[];
}

export interface AgentContext extends ToldBefore {
  readonly dispatch: DispatchBody;
  readonly epoch: number;
  readonly trees: BaseTrees;
  readonly recordings: Recordings;
  readonly compiled: Pick<Compiled, "find">;
  /** A session of before may answer an agent that compiles. */
  readonly mayReuse: boolean;
}

export type ToldBy = "stdin" | "argument";

export interface GoesOn {
  readonly argv: readonly string[];
  readonly toldBy: ToldBy;
  /** answer: it has its conversation, and is told the answer. prompt: the task in plain words. brief: as JSON. */
  readonly told: "answer" | "prompt" | "brief";
}

export interface PreparedWork {
  readonly kind: "work";
  /** Applied to the base tree before the first step. */
  readonly change: Change;
  readonly steps: readonly WorkStep[];
  /** False: the agent vouches for its work, and the checks are skipped. */
  readonly selfVerify: boolean;
  /**
   * True: the steps are a program that decides by itself, at a price. It may leave a question for a person, and it is not
   * started if a check cannot start. Default: false.
   */
  readonly isProgram?: boolean;
  /** A recorded session, for the provenance. */
  readonly transcript: string | null;
  /** A short description of the work. */
  readonly note: string;
  /** Globs of the agent's own files, which are left out of the change. Default: none. */
  readonly junk?: readonly string[];
  /** The agent's own account of its session, which is kept. Default: none. */
  readonly account?: PackTranscript;
  /** Where that says what it has used. Default: nowhere. */
  readonly usage?: PackUsage;
  /** A way of its own to ask. Default: none. */
  readonly asks?: PackAsks;
  /** How its program is started again in its container with the answer, when it ended with a question. Default: it is not. */
  readonly goesOn?: GoesOn;
  /** True: its commands may run antiphon-ask and leave a question. Default: as `isProgram`. */
  readonly mayAsk?: boolean;
  /** The request that it answers in COMPILE_FILE, and its replay key. Default: none. */
  readonly compiles?: { readonly key: string; readonly input: OCCompileInput };
}

/** An agent's decision, as data. The attempt carries it out. */
export type Preparation = PreparedWork | { readonly kind: "ask"; readonly questions: readonly string[] };

/**
 * An agent decides how a task is done; it does not use a sandbox or the journal itself.
 * `prepare` throws a coded error with disposition `attempt` or `terminal` when it cannot do the task.
 */
export interface Agent {
  prepare(context: AgentContext): Promise<Preparation>;
}

/** All ports of an attempt. */
export interface AttemptPorts {
  readonly trees: BaseTrees;
  readonly sandbox: Sandbox;
  readonly overlays: Overlays;
  readonly evidence: EvidenceStore;
  readonly recordings: Recordings;
  readonly compiled: Compiled;
  /** Absent: a job that asks is ended. */
  readonly held?: HeldJobs;
  /** Has the objects that a dispatch names stored again. */
  readonly exportAgain: ExportAgain;
  readonly progress: Progress;
  readonly clock: Clock;
  readonly log: Logger;
  newJobId(): string;
  /** How long an infrastructure fault is tried again, in milliseconds. */
  readonly patienceMs: number;
  /** The installed tools of each image, by image name; each image is probed once. */
  readonly tools: Map<string, readonly string[]>;
}
