/** What the Director needs from outside itself; each port has one file behind it, beside the topic that uses it. */
import type {
  BlobRef,
  CheckOutcome,
  EvidenceRef,
  LandingBody,
  PolicyBounds,
  RepoInspectRequest,
  RepoRef,
  RepoInspectReply,
  TreeRef,
  VerdictBody,
} from "@antiphon/contracts";
import type { PoisonedTask } from "@antiphon/run";
import type { ChangedTree, Unproven } from "@antiphon/git";

/** What the caller allows a change to touch, and what will judge it. */
export interface ChangeRules {
  scope: readonly string[];
  grants: readonly string[];
  checks: readonly string[];
  /** The repository named the checks, not the caller. */
  discovered: boolean;
  /** The commit the run started from: what it says about the checks stays true for all of the run's tasks (V13). */
  base: string;
  /** What the deployment's policy allows, whatever was granted. */
  policy?: PolicyBounds;
}

/** A patch applied to a head: a tree that no ref points to yet. */
export type Candidate = ChangedTree;

export type CandidateOutcome =
  | { kind: "candidate"; candidate: Candidate; unproven: readonly Unproven[] }
  | { kind: "refused"; code: string; message: string };

/** The user's repository. Everything it does is repeatable: the same arguments make the same objects. */
export interface RepositoryPort {
  /** @throws AntiphonError ANT_REPO_* when no run can start from it. */
  inspect(request: RepoInspectRequest): Promise<Extract<RepoInspectReply, { ok: true }>>;
  /** The tree of a commit, put into the object store once. */
  exportBase(repo: RepoRef, commit: string): Promise<TreeRef>;
  /** The fastest obvious check of a tree; empty when there is none. */
  discoverChecks(repo: RepoRef, commit: string): Promise<string[]>;
  /** L1, then the patch on top of `head` in a scratch index. */
  candidate(repo: RepoRef, head: string, patch: Buffer, rules: ChangeRules): Promise<CandidateOutcome>;
  /** L2: a commit object in the user's object store; moves no ref. */
  commit(repo: RepoRef, commit: NewCommit): Promise<string>;
  /** J8: one compare-and-set of one ref. `previous` null: the ref must not exist. */
  land(repo: RepoRef, ref: string, commit: string, previous: string | null): Promise<LandingBody>;
  /** The run's commits replayed on another head, for a target branch that moved. */
  replayOnto(repo: RepoRef, from: string, to: string, head: string): Promise<ReplayOutcome>;
  /** The commit a branch points to; null when there is no such branch. */
  tip(repo: RepoRef, ref: string): Promise<string | null>;
}

export interface NewCommit {
  parent: string;
  candidate: Candidate;
  message: string;
  trailers: Record<string, string>;
  at: Date;
}

export type ReplayOutcome =
  { kind: "replayed"; commit: string; tree: string } | { kind: "conflict"; message: string };

/** Stands for the task id where a finished run is checked as a whole. */
export const INTEGRATION = "integration";

export interface RoomRequest {
  run: string;
  task: string | null;
  epoch: number;
  purpose: "verify" | "base";
  tree: TreeRef;
  candidate: Candidate | null;
  checks: readonly string[];
  image: string | null;
  budgetMs: number;
}

/** V1: a fresh sandbox, a pristine tree, no network, the contract's commands. */
export interface CleanRoomPort {
  /** @throws AntiphonError when the sandbox itself failed: no verdict follows from that. */
  check(request: RoomRequest, signal: AbortSignal): Promise<CheckOutcome[]>;
}

export interface VerdictEvidencePort {
  /** Stores the verdict's manifest beside the attempt's; the logs are blobs already. */
  store(verdict: VerdictManifest): Promise<EvidenceRef>;
  /** The bytes of `diff.patch`. */
  patch(ref: BlobRef): Promise<Buffer>;
}

/** Dead letters of tasks that were given up. */
export interface PoisonLettersPort {
  /** One letter a task, however often it is asked for. */
  bury(runId: string, task: PoisonedTask): Promise<void>;
}

export interface VerdictManifest {
  run: string;
  task: string | null;
  epoch: number;
  head: string;
  tree: string | null;
  commit: string | null;
  verdict: VerdictBody["verdict"];
  code: string | null;
  message: string;
  proves?: VerdictBody["proves"];
  checks: readonly CheckOutcome[];
  again: readonly CheckOutcome[] | null;
  baseChecks: readonly CheckOutcome[];
}
