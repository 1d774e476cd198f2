/** The ports of the Director. One file beside the topic that uses it implements each. */
import type {
  BlobRef,
  CheckOutcome,
  EnvironmentReport,
  ServiceOutcome,
  EnvironmentSpec,
  EvidenceRef,
  FileScope,
  HistoryRef,
  LandingBody,
  PolicyBounds,
  RepoInspectRequest,
  RepoBase,
  RepoRef,
  RepoInspectReply,
  SandboxTrials,
  SandboxWritten,
  TreeRef,
  VerdictBody,
} from "@antiphon/contracts";
import type { PreparationOrder } from "./environments/preparation.ts";
import type { TestReport } from "./verification/reports/test-report.ts";
import type { PoisonedTask } from "@antiphon/run";
import type { Aware, Chance, ChangedTree, CheckedFile, Guard, ReplayedCommit, Unproven } from "@antiphon/git";
import type { RunRoom } from "./environments/run-room.ts";

/** The paths that a change may touch, and the checks that will judge it. */
export interface ChangeRules {
  scope: readonly string[];
  grants: readonly string[];
  checks: readonly string[];
  /** The repository named the checks, not the caller. */
  discovered: boolean;
  /** The commit the run started from. It alone decides which checks the run's tasks have to pass. */
  base: string;
  /** Bounds of the deployment's policy. No grant lifts them. */
  policy?: PolicyBounds;
  /** The files of the task itself, within `scope`. No grant widens them. */
  files?: FileScope;
}

/** The tree of a patch applied to a head; no ref points to it yet. */
export type Candidate = ChangedTree;

export interface AppliedChange {
  kind: "candidate";
  candidate: Candidate;
  files: readonly CheckedFile[];
  /** Sources that the change edits and the check runs. */
  unproven: readonly Unproven[];
  /** Files that the change, and its code while the check runs, may not touch. */
  guards: readonly Guard[];
  /**
   * Files that it adds on the side that judges, other than plain tests (git/src/protection/added-judges.ts), and data that
   * it changes and only that side knows (judging-data.ts).
   */
  judges: readonly string[];
  /** Plain tests that it adds beside other files. */
  tests: readonly string[];
  /** A source of chance in the change or in what the check reaches. */
  chance: Chance | null;
  /** Sources that know they are being tested. */
  aware: readonly Aware[];
  /** One of its sources may find out where it runs. Absent: none can. */
  looksAround?: boolean;
  /** One of its sources may ask for a variable of its process. Absent: none can. */
  readsVariables?: boolean;
}

export type CandidateOutcome = AppliedChange | { kind: "refused"; code: string; message: string };

/** The user's repository. Each call can be repeated: the same arguments make the same objects. */
export interface RepositoryPort {
  /** @throws AntiphonError ANT_REPO_* when no run can start from the repository. */
  inspect(request: RepoInspectRequest): Promise<Extract<RepoInspectReply, { ok: true }>>;
  /** Puts the tree of a commit into the object store, unless it is there. */
  exportBase(repo: RepoRef, commit: string): Promise<TreeRef>;
  /**
   * Puts the tree into the object store under the name that a dispatch gave it, unless it is there. Returns the names that
   * are there now. The asked name is missing if the repository now exports the commit as another tree.
   * @throws AntiphonError ANT_BLOB_MISSING when the repository does not hold what a step starts from.
   */
  exportNamed(repo: RepoRef, commit: string, object: string): Promise<readonly string[]>;
  /**
   * Puts a commit with up to `commits` commits of its history into the object store, unless it is there. Null: not even
   * the commit alone fits in a sandbox.
   */
  exportHistory(base: RepoBase, commit: string, commits: number): Promise<HistoryRef | null>;
  /** The named files of a commit as UTF-8; missing ones, those that are no text and large ones are left out. */
  texts(repo: RepoRef, commit: string, paths: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** The change from one commit to another as a git patch. */
  diff(repo: RepoRef, from: string, to: string): Promise<Buffer>;
  /** The fastest obvious check of a tree that needs none of `lacks`; empty when there is none. */
  discoverChecks(repo: RepoRef, commit: string, lacks?: readonly string[]): Promise<string[]>;
  /** Other commands that look like tests; none if the repository declares its checks. */
  otherChecks(repo: RepoRef, commit: string): Promise<string[]>;
  /** Checks the patch against the rules, then applies it to `head` in a scratch index. */
  candidate(repo: RepoRef, head: string, patch: Buffer, rules: ChangeRules): Promise<CandidateOutcome>;
  /** Follows what the checks reach, as `candidate` does, which finds it done. Returns the source of chance there. */
  follow(
    repo: RepoRef,
    head: string,
    rules: Pick<ChangeRules, "checks" | "discovered" | "base">,
  ): Promise<Chance | null>;
  /** Files of the change that the check opened and that no source names (git/src/protection/opened-files.ts). */
  openedFiles(
    repo: RepoRef,
    head: string,
    change: Pick<AppliedChange, "files" | "guards">,
    rules: { readonly grants: readonly string[]; readonly opened: ReadonlySet<string> },
  ): Promise<readonly string[]>;
  /** Writes a commit object into the user's object store; moves no ref. */
  commit(repo: RepoRef, commit: NewCommit): Promise<string>;
  /** One compare-and-set of one ref. `previous` null: the ref must not exist. */
  land(repo: RepoRef, ref: string, commit: string, previous: string | null): Promise<LandingBody>;
  /** Replays the run's commits on another head, for a target branch that moved. */
  replayOnto(repo: RepoRef, from: string, to: string, head: string): Promise<ReplayOutcome>;
  /** The commit a branch points to; null when there is no such branch. */
  tip(repo: RepoRef, ref: string): Promise<string | null>;
  /** The runs that made a commit and those closely below it, newest first. */
  runsOf(repo: RepoRef, commit: string): Promise<readonly string[]>;
}

export interface NewCommit {
  parent: string;
  candidate: Candidate;
  message: string;
  trailers: Record<string, string>;
  at: Date;
}

export type ReplayOutcome =
  | { kind: "replayed"; commit: string; tree: string; commits: readonly ReplayedCommit[] }
  | { kind: "conflict"; message: string };

/** Takes the place of the task id when a finished run is verified as a whole. */
export const INTEGRATION = "integration";

export interface RoomRequest {
  run: string;
  task: string | null;
  epoch: number;
  purpose: "verify" | "base";
  tree: TreeRef;
  /** The repository that the checks find; null: none. */
  history: HistoryRef | null;
  candidate: Candidate | null;
  checks: readonly string[];
  image: string | null;
  /** Absent: the runner's default, and no variables. */
  room?: RunRoom;
  budgetMs: number;
  trials: SandboxTrials;
  /** The outcome lists those of these files that the checks opened. */
  traced?: readonly string[];
  /**
   * The outcome is not needed yet. The request is made once and takes no last free slot, and the outcome lists every file of
   * the tree that the checks opened.
   */
  ahead?: boolean;
  /** The directory below /tmp in which the checks run once, with the tree, which is then not at /workspace. */
  elsewhere?: string;
  /** The checks run in a workspace from which all files are gone. Its repository stays. */
  emptied?: boolean;
  /** Absent: the tree has no environment. */
  setup?: SetupOf;
  /** A person asks: a setup that failed before is tried again. */
  again?: boolean;
  /** Told how far the checks are. A hint: it may come late or never. */
  news?: RoomNews;
}

export interface RoomNews {
  /** The environment is there, and the first check runs. */
  started(): void;
  /** `index`: of the check. */
  ended(index: number, exitCode: number | null): void;
}

/** What decides the environment of a tree. */
export interface SetupOf {
  repo: RepoRef;
  /** The commit that people gave. */
  base: string;
  /** The run's own setup commands; an empty list: none. */
  named?: readonly string[] | undefined;
  /** Programs that the image lacks; what needs one is not prepared. Absent: none. */
  lacks?: readonly string[] | undefined;
}

/** Absent where a deployment prepares no environments. */
export interface EnvironmentPort {
  /** Null: the tree needs none. */
  specFor(setup: SetupOf, tree: TreeRef, candidate: Candidate | null): Promise<EnvironmentSpec | null>;
  /** @throws EnvironmentFailed, or the fault of the machine */
  prepare(order: PreparationOrder, signal: AbortSignal): Promise<void>;
}

/** The outcomes of all checks, once for each trial, and what the trials did to the files; null: the runner cannot tell. */
export interface RoomOutcome {
  trials: readonly (readonly CheckOutcome[])[];
  written: SandboxWritten | null;
  /** What the test runners reported in the first trial, for each check. Absent: it was not read. */
  reports?: readonly TestReport[];
  /** The environment in which they ran. */
  environment?: EnvironmentReport;
  services?: readonly ServiceOutcome[];
  /** Id of the image. */
  image?: string;
}

/** Runs the contract's commands in a fresh sandbox with a pristine tree and no network. */
export interface CleanRoomPort {
  /** @throws AntiphonError when the sandbox itself failed, which allows no verdict. */
  check(request: RoomRequest, signal: AbortSignal): Promise<RoomOutcome>;
}

export interface VerdictEvidencePort {
  /** Stores the verdict's manifest beside the attempt's. Its logs are stored already. */
  store(verdict: VerdictManifest): Promise<EvidenceRef>;
  /** The bytes of `diff.patch`. */
  patch(ref: BlobRef): Promise<Buffer>;
  /** The bytes of a file that the task had to deliver. */
  artifact(ref: BlobRef): Promise<Buffer>;
  /** Stores bytes under their digest. */
  keep(bytes: Buffer): Promise<BlobRef>;
}

/** Dead letters of tasks that were given up. */
export interface PoisonLettersPort {
  /** Writes one letter per task, even if it is called again. */
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
  /** All trials, by the tree they ran on. */
  trials: TrialsByTree;
  environment?: EnvironmentReport | null;
  services?: readonly ServiceOutcome[];
  /** What the Director made of the file that the task delivered. */
  files?: readonly TextFile[];
}

export interface TextFile {
  readonly path: string;
  readonly text: string;
}

type Trials = readonly (readonly CheckOutcome[])[];

export interface TrialsByTree {
  /** The tree that is to become the head. */
  change: Trials;
  /** The tree without the change. */
  base: Trials;
  /** The tree without the change and without the files that it touches. */
  hollow: Trials;
  /** Without any file. Absent: not tried. */
  emptied?: Trials;
  /** The tree without the files that the change adds on the side that judges. */
  withoutJudges: Trials;
  /** The tree without the sources of the change, with the tests that it brings. */
  own: Trials;
}
