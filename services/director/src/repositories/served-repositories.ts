/**
 * Opens the repositories that the deployment serves, and no others, regardless of who names them: for an inspection, for each
 * step of a run, and for the work tree whose files follow a landing. A repository named by a URL is a copy of the remote
 * (remote-repositories.ts), which has no work tree.
 */
import { AntiphonError, isMaterial, type RepoInspectRequest, type RepoRef } from "@antiphon/contracts";
import { checkedOutAt, FoundRepos, openServed, servedPlaces, type Repo, type RepoRoots } from "@antiphon/git";
import type { Blobs } from "@antiphon/runtime";
import type { MaterialRepository } from "../connectors/material-repository.ts";
import { NO_REMOTES, RemoteRepositories } from "./remote-repositories.ts";

/** Which repositories are served: directories by path, and remote ones by URL. Without `remotes`: none by URL. */
export interface Served {
  readonly roots: RepoRoots;
  readonly remotes?: RemoteRepositories;
  /** What connectors answered. Absent: no run starts from it. */
  readonly material?: MaterialRepository;
}

export class ServedRepositories {
  readonly remotes: RemoteRepositories;
  readonly #roots: RepoRoots;
  readonly #material: MaterialRepository | null;
  readonly #found = new FoundRepos();

  constructor({ roots, remotes, material }: Served, trees: Blobs) {
    this.#material = material ?? null;
    this.#roots = roots;
    this.remotes = remotes ?? new RemoteRepositories(NO_REMOTES, trees);
  }

  /** `commits`: those that the caller is about to read. */
  async open(repo: RepoRef, commits: readonly string[] = []): Promise<Repo> {
    if (this.#material !== null && isMaterial(repo)) return this.#material.open(commits);
    const url = this.remotes.urlOf(repo);
    if (url !== null) return this.remotes.open(url, commits);
    const opened = await openServed(repo.path, this.#roots, (path) => this.#found.find(path));
    // A copy of a remote is no repository of its own: what lands there only, the next fetch removes.
    if (await this.remotes.holds(opened.commonDir))
      throw new AntiphonError("ANT_REPO_NOT_FOUND", `there is no repository at ${repo.path}`);
    return opened;
  }

  /** As it is now, for an inspection. */
  async openFresh({ repo, confined }: RepoInspectRequest): Promise<Repo> {
    const url = this.remotes.urlOf(repo);
    if (url !== null) return this.remotes.fresh(url);
    if (confined === true && this.#roots === null) throw new AntiphonError("ANT_REPO_ROOTS_UNSET");
    return this.open(repo);
  }

  /** Decides about further places that git keeps for a repository. */
  places(repo: RepoRef): (place: string) => Promise<boolean> {
    return servedPlaces(this.remotes.urlOf(repo) === null ? this.#roots : this.remotes.places);
  }

  /** A branch may be checked out in a linked work tree, which may lie anywhere. */
  async requireServedFiles(repo: Repo, ref: string): Promise<void> {
    if (this.#roots === null) return;
    const top = await checkedOutAt(repo, ref);
    if (top !== null && top !== repo.top) await openServed(top, this.#roots);
  }
}
