/**
 * Git for the workspace of a session. A repository beside the Director has the session's branch as a real branch; of one
 * that is served by URL nothing moves before a push, and the session's commits are kept with everything above the commit
 * it started from, so that any Director can go on.
 */
import {
  AntiphonError,
  type HistoryRef,
  type LandingBody,
  type RepoBase,
  type RepoRef,
  type TreeRef,
} from "@antiphon/contracts";
import {
  buildCommit,
  originOf,
  readCommits,
  treeDiff,
  treeOf,
  type CommitSigner,
  type GitObject,
  type LandingOutcome,
} from "@antiphon/git";
import type { RefMove, RemoteRepositories } from "../repositories/remote-repositories.ts";
import type { Repositories } from "../repositories/repositories.ts";
import type { CandidateOutcome, ChangeRules } from "../ports.ts";

/** A commit of a session. `base`: where the session started. */
export interface SessionCommit {
  readonly base: string;
  readonly parent: string;
  readonly tree: string;
  readonly objects: readonly GitObject[];
  readonly message: string;
  readonly sessionId: string;
  readonly at: Date;
}

export interface Pushed {
  readonly url: string;
  readonly outcome: LandingOutcome;
}

export class SessionRepository {
  readonly #repositories: Repositories;
  readonly #remotes: RemoteRepositories;
  readonly #signer: CommitSigner;

  constructor(repositories: Repositories, remotes: RemoteRepositories, signer: CommitSigner) {
    this.#repositories = repositories;
    this.#remotes = remotes;
    this.#signer = signer;
  }

  /** The commit of a branch, a tag or an id; without a name that of HEAD. @throws AntiphonError ANT_REPO_* */
  async commitOf(repo: RepoRef, name?: string): Promise<string> {
    const named = name === undefined || name === "HEAD" ? {} : { base_ref: name };
    const found = await this.#repositories.inspect({
      ...{ repo, allow_dirty: true, image_named: true },
      ...named,
    });
    return found.base.commit;
  }

  async treeOf(repo: RepoRef, commit: string): Promise<string> {
    return treeOf(await this.#repositories.open(repo, [commit]), commit);
  }

  async parentOf(repo: RepoRef, commit: string): Promise<string> {
    const parent = (await this.#read(repo, commit))?.parents[0];
    if (parent !== undefined) return parent;
    throw gone(commit);
  }

  /** The first line of a commit's message. */
  async subjectOf(repo: RepoRef, commit: string): Promise<string> {
    const read = await this.#read(repo, commit);
    if (read === undefined) throw gone(commit);
    return read.message.split("\n", 1)[0] ?? "";
  }

  async #read(repo: RepoRef, commit: string) {
    const [read] = await readCommits(await this.#repositories.open(repo, [commit]), [commit]);
    return read;
  }

  /** `paths`: literal files and directories; none: the whole tree. */
  async diff(repo: RepoRef, from: string, to: string, paths: readonly string[] = []): Promise<Buffer> {
    return treeDiff(await this.#repositories.open(repo, [from, to]), from, to, paths);
  }

  candidate(repo: RepoRef, head: string, patch: Buffer, rules: ChangeRules): Promise<CandidateOutcome> {
    return this.#repositories.candidate(repo, head, patch, rules);
  }

  discoverChecks(repo: RepoRef, commit: string, lacks?: readonly string[]): Promise<string[]> {
    return this.#repositories.discoverChecks(repo, commit, lacks);
  }

  texts(repo: RepoRef, commit: string, paths: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return this.#repositories.texts(repo, commit, paths);
  }

  /** The paths of a commit's files. */
  async names(repo: RepoRef, commit: string): Promise<readonly string[]> {
    return (await this.#repositories.listing(repo, commit)).paths;
  }

  exportHistory(base: RepoBase, commit: string, commits: number): Promise<HistoryRef | null> {
    return this.#repositories.exportHistory(base, commit, commits);
  }

  exportTree(repo: RepoRef, commit: string): Promise<TreeRef> {
    return this.#repositories.exportBase(repo, commit);
  }

  /** Writes a commit; moves no ref. */
  async build(repo: RepoRef, commit: SessionCommit): Promise<string> {
    const { base, parent, sessionId, ...plan } = commit;
    const opened = await this.#repositories.open(repo, [parent]);
    const trailers = { "Antiphon-Session": sessionId };
    const built = await buildCommit(opened, { ...plan, parent, trailers, signer: this.#signer });
    if (this.#remotes.urlOf(repo) !== null) await this.#remotes.keep(opened, built, base);
    return built;
  }

  /** Null: the branch is at the commit now, or no ref holds it before a push. */
  async moveBranch(repo: RepoRef, move: RefMove, rewrites = false): Promise<string | null> {
    if (this.#remotes.urlOf(repo) !== null) return null;
    const moved: LandingBody = await this.#repositories.moveBranch(repo, move, rewrites);
    return moved.kind === "landed" ? null : moved.message;
  }

  tip(repo: RepoRef, ref: string): Promise<string | null> {
    return this.#repositories.tip(repo, ref);
  }

  /**
   * Pushes to the repository's own URL, or to the `origin` of one beside the Director.
   * @throws AntiphonError ANT_SESSION_REMOTE, ANT_REPO_URL_REFUSED, ANT_REPO_REMOTE_*, ANT_LANDING_*
   */
  async push(repo: RepoRef, move: RefMove): Promise<Pushed> {
    const url = await this.servedAt(repo);
    const isCopy = this.#remotes.urlOf(repo) !== null;
    if (isCopy) return { url, outcome: await this.#remotes.push(url, move) };
    return { url, outcome: await this.#remotes.send(url, await this.#repositories.open(repo), move) };
  }

  /**
   * The URL of the repository, or of its `origin` if it lies beside the Director.
   * @throws AntiphonError ANT_SESSION_REMOTE, ANT_REPO_URL_REFUSED
   */
  async servedAt(repo: RepoRef): Promise<string> {
    const own = this.#remotes.urlOf(repo);
    if (own !== null) return own;
    const origin = await originOf(await this.#repositories.open(repo));
    if (origin === null) throw new AntiphonError("ANT_SESSION_REMOTE", `${repo.path} has no origin`);
    const url = this.#remotes.urlOf({ name: repo.name, path: origin });
    if (url === null) throw new AntiphonError("ANT_REPO_URL_INVALID", "the URL of origin is none");
    return url;
  }
}

function gone(commit: string): AntiphonError {
  return new AntiphonError("ANT_LANDING_COMMIT_GONE", `${commit} is not in the repository any more`);
}
