/**
 * Repositories that the deployment serves by URL: bare copies beside the Director, and landings by a push with a lease.
 *
 * A Director builds a verified commit in its own copy, and another Director may have to land it. So the commit's objects
 * are also kept in the object store until it has landed, and a copy that lacks a commit takes it from there.
 */
import { realpath } from "node:fs/promises";
import { sep } from "node:path";
import {
  AntiphonError,
  liesBelow,
  looksLikeUrl,
  repositoryUrl,
  type LandingBody,
  type RepoRef,
} from "@antiphon/contracts";
import { withDeadline, type Blobs } from "@antiphon/runtime";
import {
  copyCommit,
  missingCommits,
  Mirrors,
  packOf,
  pushRef,
  unpackInto,
  type LandingOutcome,
  type RemoteAccess,
  type Repo,
} from "@antiphon/git";

export interface RemoteSettings {
  /** Canonical URLs; a repository is served if its URL is one of them or lies below one. */
  readonly prefixes: readonly string[];
  /** Directory of the copies. */
  readonly directory: string;
  readonly access: RemoteAccess;
}

/** One compare-and-set of a branch. `old` null: the branch must not exist. */
export interface RefMove {
  readonly ref: string;
  readonly next: string;
  readonly old: string | null;
}

export const NO_REMOTES: RemoteSettings = { prefixes: [], directory: "/nonexistent", access: {} };

/** Less than the time that the gateway waits for an inspection. */
const FIRST_FETCH_MS = 12_000;

export class RemoteRepositories {
  readonly #settings: RemoteSettings;
  readonly #store: Pick<Blobs, "has" | "get" | "put">;
  readonly #mirrors: Mirrors;

  constructor(settings: RemoteSettings, store: Pick<Blobs, "has" | "get" | "put">) {
    this.#settings = settings;
    this.#store = store;
    this.#mirrors = new Mirrors(settings.directory, settings.access);
  }

  /**
   * The URL by which the repository is served; null if `repo` names a path.
   * @throws AntiphonError ANT_REPO_URL_INVALID, ANT_REPO_URL_REFUSED
   */
  urlOf({ path }: RepoRef): string | null {
    if (!looksLikeUrl(path)) return null;
    const parsed = repositoryUrl(path);
    if ("fault" in parsed) throw new AntiphonError("ANT_REPO_URL_INVALID", `the URL ${parsed.fault}`);
    if (this.#settings.prefixes.some((prefix) => liesBelow(parsed.url, prefix))) return parsed.url;
    throw new AntiphonError("ANT_REPO_URL_REFUSED", `${parsed.url} is not served here`);
  }

  /** Whether a directory is one of the copies. */
  async holds(directory: string): Promise<boolean> {
    const copies = await realpath(this.#settings.directory).catch(() => this.#settings.directory);
    return directory.startsWith(`${copies}${sep}`);
  }

  /** The directories that may be read for a remote repository. */
  get places(): readonly string[] {
    return [this.#settings.directory];
  }

  /**
   * The copy with the remote's present branches. A fetch that takes long goes on.
   * @throws AntiphonError ANT_REPO_REMOTE_FETCHING
   */
  async fresh(url: string): Promise<Repo> {
    const fetching = this.#mirrors.refreshed(url);
    // If the fetch fails after this deadline, the next request gets its error.
    return withDeadline(FIRST_FETCH_MS, fetching, () => {
      throw new AntiphonError("ANT_REPO_REMOTE_FETCHING", `${url} is being fetched`);
    });
  }

  /** The copy with these commits, as far as the remote or the object store has them. */
  async open(url: string, commits: readonly string[]): Promise<Repo> {
    const repo = await this.#mirrors.open(url);
    if ((await missingCommits(repo, commits)).length === 0) return repo;
    const fetched = await this.#mirrors.refreshed(url);
    for (const commit of await missingCommits(fetched, commits)) {
      const name = packName(commit);
      if (await this.#store.has(name)) await unpackInto(fetched, await this.#store.get(name));
    }
    return fetched;
  }

  /** Keeps a commit that is not at the remote yet. `base`: a commit that is, or that is kept itself. */
  async keep(repo: Repo, commit: string, base: string): Promise<void> {
    const name = packName(commit);
    if (!(await this.#store.has(name))) await this.#store.put(name, await packOf(repo, commit, base));
  }

  tip(url: string, ref: string): Promise<string | null> {
    return this.#mirrors.tip(url, ref);
  }

  /** Pushes a commit of a repository beside the Director to the remote that it names. */
  async send(url: string, from: Repo, move: RefMove): Promise<LandingOutcome> {
    const repo = await this.fresh(url);
    if ((await missingCommits(repo, [move.next])).length > 0) await copyCommit(from, repo, move.next);
    return pushRef(this.#mirrors, url, repo, move);
  }

  /** Pushes a commit that the copy has or that is kept. */
  async push(url: string, move: RefMove): Promise<LandingOutcome> {
    const { next, old } = move;
    const repo = await this.open(url, old === null ? [next] : [next, old]);
    if ((await missingCommits(repo, [next])).length > 0)
      throw new AntiphonError("ANT_LANDING_COMMIT_GONE", `${next} is neither at ${url} nor kept`);
    return pushRef(this.#mirrors, url, repo, move);
  }

  async land(url: string, ref: string, commit: string, previous: string | null): Promise<LandingBody> {
    const outcome = await this.push(url, { ref, next: commit, old: previous });
    if (outcome.kind !== "moved") return { kind: "landed", ref, commit, previous };
    const message = `${ref} is at ${outcome.actual ?? "nothing"} instead of ${previous ?? "nothing"}`;
    return { kind: "refused", code: "ANT_LANDING_HEAD_MOVED", message };
  }
}

const packName = (commit: string): string => `commit-${commit}.pack`;
