/** The user's repositories over git: what a run starts from, the tree of a patch, and the landing. */
import {
  type HistoryRef,
  type LandingBody,
  type RepoBase,
  type RepoInspectReply,
  type RepoInspectRequest,
  type RepoRef,
  type TreeRef,
} from "@antiphon/contracts";
import {
  checkCandidates,
  discoverChecks,
  inspectRepo,
  otherChecks,
  treeDiff,
  type Chance,
  type CommitFiles,
  type CommitSigner,
  type Repo,
  type RepoInspection,
  type TreeFacts,
} from "@antiphon/git";
import type { Blobs, Logger } from "@antiphon/runtime";
import type { NewCommit, ReplayOutcome, RepositoryPort } from "../ports.ts";
import { BranchLandings } from "./branch-landings.ts";
import { CommitExports, type Storing } from "./commit-exports.ts";
import { PatchCandidates, type FollowRules } from "./patch-candidates.ts";
import { Remembered } from "./remembered.ts";
import type { RefMove } from "./remote-repositories.ts";
import { ServedRepositories, type Served } from "./served-repositories.ts";

type Inspected = Extract<RepoInspectReply, { ok: true }>;
type Of<Name extends keyof PatchCandidates> = PatchCandidates[Name];

/** Trees whose facts are remembered. */
const REMEMBERED = 256;

export class Repositories implements RepositoryPort {
  readonly #served: ServedRepositories;
  readonly #exports: CommitExports;
  readonly #candidates: PatchCandidates;
  readonly #landings: BranchLandings;
  /** A tree never changes, and most runs begin on one that a run began on before. */
  readonly #facts = new Remembered<TreeFacts>(REMEMBERED);

  constructor(
    trees: Blobs,
    served: Served,
    signer: CommitSigner,
    log: Logger,
    storing: Partial<Storing> = {},
  ) {
    this.#served = new ServedRepositories(served, trees);
    this.#exports = new CommitExports(this.#served, trees, {
      within: storing.within ?? ((_bytes, store) => store()),
      steps: storing.steps ?? false,
    });
    this.#candidates = new PatchCandidates(this.#served, this.#exports);
    this.#landings = new BranchLandings(this.#served, signer, log);
  }

  async inspect(request: RepoInspectRequest): Promise<Inspected> {
    const { repo, base_ref, land_on } = request;
    const opened = await this.#served.openFresh(request);
    const inspection = await inspectRepo(opened, {
      ...(base_ref === undefined ? {} : { baseRef: base_ref }),
      ...(land_on === undefined ? {} : { landOn: land_on }),
      allowDirty: request.allow_dirty ?? false,
      imageNamed: request.image_named ?? false,
      served: this.#served.places(repo),
      known: (tree, read) => this.#facts.get(JSON.stringify([opened.gitDir, tree]), read),
    });
    const url = this.#served.remotes.urlOf(repo);
    const base =
      url === null ? inspection.base : { ...inspection.base, repo: { name: repo.name, path: url } };
    const found = { ...shown(inspection), base, home: url ?? inspection.home };
    if (request.discover !== true) return found;
    const files = await this.listing(base.repo, base.commit);
    const candidates = await checkCandidates(files.paths, (path) => files.read(path));
    return {
      ...found,
      check_candidates: candidates.map(({ command, needs }) => ({
        command,
        needs: needs.map((group) => [...group]),
      })),
    };
  }

  open(repo: RepoRef, commits: readonly string[] = []): Promise<Repo> {
    return this.#served.open(repo, commits);
  }

  /** The files of a commit, for decisions by names and small texts. */
  listing(repo: RepoRef, commit: string): Promise<CommitFiles> {
    return this.#exports.listing(repo, commit);
  }

  exportBase(repo: RepoRef, commit: string): Promise<TreeRef> {
    return this.#exports.exportBase(repo, commit);
  }

  exportNamed(repo: RepoRef, commit: string, object: string): Promise<readonly string[]> {
    return this.#exports.exportNamed(repo, commit, object);
  }

  exportHistory(base: RepoBase, commit: string, commits: number): Promise<HistoryRef | null> {
    return this.#exports.exportHistory(base, commit, commits);
  }

  async texts(repo: RepoRef, commit: string, paths: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const files = await this.listing(repo, commit);
    return files.readAll(paths.filter((path) => files.id(path) !== null && !files.links.has(path)));
  }

  async diff(repo: RepoRef, from: string, to: string): Promise<Buffer> {
    return treeDiff(await this.#served.open(repo, [from, to]), from, to);
  }

  async discoverChecks(repo: RepoRef, commit: string, lacks?: readonly string[]): Promise<string[]> {
    const files = await this.listing(repo, commit);
    return discoverChecks(files.paths, (path) => files.read(path), lacks);
  }

  async otherChecks(repo: RepoRef, commit: string): Promise<string[]> {
    const files = await this.listing(repo, commit);
    return otherChecks(files.paths, (path) => files.read(path));
  }

  async follow(repo: RepoRef, head: string, rules: FollowRules): Promise<Chance | null> {
    return (await this.#candidates.follow(repo, head, rules)).chance;
  }

  candidate(...asked: Parameters<Of<"candidate">>): ReturnType<Of<"candidate">> {
    return this.#candidates.candidate(...asked);
  }

  openedFiles(...asked: Parameters<Of<"openedFiles">>): ReturnType<Of<"openedFiles">> {
    return this.#candidates.openedFiles(...asked);
  }

  commit(repo: RepoRef, commit: NewCommit): Promise<string> {
    return this.#landings.commit(repo, commit);
  }

  land(repo: RepoRef, ref: string, commit: string, previous: string | null): Promise<LandingBody> {
    return this.#landings.land(repo, ref, commit, previous);
  }

  moveBranch(repo: RepoRef, move: RefMove, rewrites = false): Promise<LandingBody> {
    return this.#landings.moveBranch(repo, move, rewrites);
  }

  replayOnto(repo: RepoRef, from: string, to: string, head: string): Promise<ReplayOutcome> {
    return this.#landings.replayOnto(repo, from, to, head);
  }

  tip(repo: RepoRef, ref: string): Promise<string | null> {
    return this.#landings.tip(repo, ref);
  }

  runsOf(repo: RepoRef, commit: string): Promise<readonly string[]> {
    return this.#landings.runsOf(repo, commit);
  }
}

function shown(inspection: RepoInspection): Omit<Inspected, "base" | "home"> {
  const { branch, dirty, files, image, landOn, verifyGit, services, gates, absent, needs } = inspection;
  const { programs, because } = needs;
  return {
    ...{ ok: true, branch, dirty, files, image },
    ...(landOn === null ? {} : { land_ref: landOn.moves }),
    ...(verifyGit ? { verify_git: true } : {}),
    ...(services.length === 0 ? {} : { services }),
    ...(gates.length === 0 ? {} : { gates }),
    ...(absent.length === 0 ? {} : { absent }),
    ...(programs.length === 0 ? {} : { needs: [...programs], needs_because: [...because] }),
  };
}
