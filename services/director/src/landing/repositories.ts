/**
 * The user's repositories over git: the base of a run, the tree of a patch, and the landing.
 *
 * Each call opens only a repository that the deployment serves (repo-roots.ts), regardless of who names it: for an
 * inspection, for each step of a run, and for the work tree whose files follow a landing.
 *
 * A repository named by a URL is a copy of the remote (remote-repositories.ts), which has no work tree.
 *
 * Local changes refuse a landing only while the branch is where it was at the verification. After that the branch
 * itself tells whether the change has landed already or the branch moved.
 */
import { createHash } from "node:crypto";
import {
  AntiphonError,
  type HistoryRef,
  type LandingBody,
  type RepoBase,
  type RepoInspectReply,
  type RepoInspectRequest,
  type RepoRef,
  type TreeRef,
} from "@antiphon/contracts";
import type { Blobs, Logger } from "@antiphon/runtime";
import {
  addedJudges,
  applyPatch,
  buildCommit,
  awareOf,
  chanceIn,
  mayBeAware,
  type Aware,
  checkedOutAt,
  checkPatch,
  commitFiles,
  discoverCheck,
  exportHistory,
  exportLinked,
  exportTree,
  filesWith,
  inspectRepo,
  judgingData,
  openedFiles,
  landRef,
  FoundRepos,
  openServed,
  otherChecks,
  protectionOf,
  refuseLfsOf,
  replayCommits,
  rewriteRef,
  servedPlaces,
  strongerChance,
  tipOf,
  updateWorktree,
  type Chance,
  type CommitFiles,
  type CommitSigner,
  type Guard,
  type Repo,
  type RepoRoots,
} from "@antiphon/git";
import { breachOf } from "../verification/policy-bounds.ts";
import { outsideOf } from "../verification/task-files.ts";
import { NO_REMOTES, RemoteRepositories, type RefMove } from "./remote-repositories.ts";
import type {
  AppliedChange,
  CandidateOutcome,
  ChangeRules,
  NewCommit,
  ReplayOutcome,
  RepositoryPort,
} from "../ports.ts";

type Inspected = Extract<RepoInspectReply, { ok: true }>;

/** Commits whose exported tree or guards are remembered; both never change for a commit. */
const REMEMBERED = 256;
/** Listings that are kept; one of 100,000 files takes some 25 MB. */
const LISTINGS = 4;

const ALREADY_THERE = "the attempt changed nothing: the run's head holds the same change already";

/** Makes the value once, and again only if making it failed. */
function remembered<T>(
  known: Map<string, Promise<T>>,
  key: string,
  make: () => Promise<T>,
  most = REMEMBERED,
): Promise<T> {
  const before = known.get(key);
  if (before !== undefined) return before;
  const making = make();
  known.set(key, making);
  making.catch(() => known.delete(key));
  const oldest = known.keys().next();
  if (known.size > most && oldest.done !== true) known.delete(oldest.value);
  return making;
}

interface ExportedBase {
  ref: TreeRef;
  /** Bytes of the files in Git LFS, as they are laid out. */
  sizes: ReadonlyMap<string, number>;
}

/** Distinguishes the archives that one commit can have. */
const shortDigest = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex").slice(0, 16);

/** What protects the checks on a commit, and the source of chance in what they reach. */
interface Guarded {
  guards: Guard[];
  chance: Chance | null;
}

/** Which repositories are served: directories by path, and remote ones by URL. Without `remotes`: none by URL. */
interface Served {
  readonly roots: RepoRoots;
  readonly remotes?: RemoteRepositories;
}

type FollowRules = Pick<ChangeRules, "checks" | "discovered" | "base">;

export class Repositories implements RepositoryPort {
  readonly #trees: Blobs;
  readonly #roots: RepoRoots;
  readonly #remotes: RemoteRepositories;
  readonly #signer: CommitSigner;
  readonly #log: Logger;
  readonly #found = new FoundRepos();
  readonly #exported = new Map<string, Promise<ExportedBase>>();
  readonly #histories = new Map<string, Promise<HistoryRef | null>>();
  readonly #listings = new Map<string, Promise<CommitFiles>>();
  readonly #guarded = new Map<string, Promise<Guarded>>();

  constructor(trees: Blobs, { roots, remotes }: Served, signer: CommitSigner, log: Logger) {
    this.#trees = trees;
    this.#roots = roots;
    this.#remotes = remotes ?? new RemoteRepositories(NO_REMOTES, trees);
    this.#signer = signer;
    this.#log = log;
  }

  async inspect(request: RepoInspectRequest): Promise<Inspected> {
    const url = this.#remotes.urlOf(request.repo);
    if (url === null && request.confined === true && this.#roots === null)
      throw new AntiphonError("ANT_REPO_ROOTS_UNSET");
    const opened = url === null ? await this.open(request.repo) : await this.#remotes.fresh(url);
    const inspection = await inspectRepo(opened, {
      ...(request.base_ref === undefined ? {} : { baseRef: request.base_ref }),
      ...(request.land_on === undefined ? {} : { landOn: request.land_on }),
      allowDirty: request.allow_dirty ?? false,
      imageNamed: request.image_named ?? false,
      served: this.#served(request.repo),
    });
    const { base, branch, dirty, files, image, home, landOn, verifyGit, services, absent, needs } =
      inspection;
    const land = landOn === null ? {} : { land_ref: landOn.moves };
    const more = {
      ...(verifyGit ? { verify_git: true } : {}),
      ...(services.length === 0 ? {} : { services }),
      ...(absent.length === 0 ? {} : { absent }),
      ...(needs.programs.length === 0
        ? {}
        : { needs: [...needs.programs], needs_because: [...needs.because] }),
    };
    const found = { ok: true, branch, dirty, files, image, ...land, ...more } as const;
    if (url === null) return { ...found, base, home };
    const { name } = request.repo;
    return { ...found, base: { ...base, repo: { name, path: url } }, home: url };
  }

  /** `commits`: those that the caller is about to read. */
  async open(repo: RepoRef, commits: readonly string[] = []): Promise<Repo> {
    const url = this.#remotes.urlOf(repo);
    if (url !== null) return this.#remotes.open(url, commits);
    const opened = await openServed(repo.path, this.#roots, (path) => this.#found.find(path));
    // A copy of a remote is no repository of its own: what lands there only, the next fetch removes.
    if (await this.#remotes.holds(opened.commonDir))
      throw new AntiphonError("ANT_REPO_NOT_FOUND", `there is no repository at ${repo.path}`);
    return opened;
  }

  #served(repo: RepoRef): (place: string) => Promise<boolean> {
    return servedPlaces(this.#remotes.urlOf(repo) === null ? this.#roots : this.#remotes.places);
  }

  /** The files of a commit, for decisions by names and small texts. */
  async listing(repo: RepoRef, commit: string): Promise<CommitFiles> {
    return this.#filesOf(await this.open(repo, [commit]), commit);
  }

  /** One run asks for the same listing at its intent, its dispatch and its verdict. */
  #filesOf(repo: Repo, commit: string): Promise<CommitFiles> {
    const key = JSON.stringify([repo.gitDir, commit]);
    return remembered(this.#listings, key, () => commitFiles(repo, commit), LISTINGS);
  }

  async exportBase(repo: RepoRef, commit: string): Promise<TreeRef> {
    return (await this.#base(repo, commit)).ref;
  }

  #base(repo: RepoRef, commit: string): Promise<ExportedBase> {
    return remembered(this.#exported, commit, () => this.#export(repo, commit));
  }

  async #export(repo: RepoRef, commit: string): Promise<ExportedBase> {
    const opened = await this.open(repo, [commit]);
    const listing = this.#filesOf(opened, commit).then(({ entries }) => entries);
    const { tree, tar, bytes, files, gitlinks, hasAttributes } = await exportTree(opened, commit, {
      listing,
    });
    const object = `tree-${tree}.tar`;
    await this.#store(object, tar);
    const ref = { commit, tree, object, bytes, files };
    const mayLink = gitlinks.length > 0 || hasAttributes;
    const linked = mayLink ? await exportLinked(opened, commit, this.#served(repo)) : null;
    if (linked === null || linked.tar === null) return { ref, sizes: new Map() };
    const name = `linked-${tree}-${shortDigest(linked.tar)}.tar`;
    await this.#store(name, linked.tar);
    return { ref: { ...ref, linked: name }, sizes: linked.sizes };
  }

  async #store(object: string, tar: Buffer): Promise<void> {
    if (!(await this.#trees.has(object))) await this.#trees.put(object, tar);
  }

  exportHistory(base: RepoBase, commit: string, commits: number): Promise<HistoryRef | null> {
    const branch = base.ref.startsWith("refs/heads/") ? base.ref : null;
    const key = JSON.stringify([base.repo.path, commit, commits, branch]);
    return remembered(this.#histories, key, async () => {
      const sizes = async () => (await this.#base(base.repo, commit)).sizes;
      const opened = await this.open(base.repo, [commit]);
      const history = await exportHistory(opened, commit, { commits, branch, sizes });
      if (history === null) return null;
      const object = `history-${commit}-${shortDigest(history.tar)}.tar`;
      await this.#store(object, history.tar);
      return { object, commits: history.commits, cut: history.cut, bytes: history.tar.length };
    });
  }

  async texts(repo: RepoRef, commit: string, paths: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const files = await this.listing(repo, commit);
    const links = files.links;
    return files.readAll(paths.filter((path) => files.id(path) !== null && !links.has(path)));
  }

  async discoverChecks(repo: RepoRef, commit: string): Promise<string[]> {
    const files = await this.listing(repo, commit);
    const check = await discoverCheck(files.paths, (path) => files.read(path));
    return check === null ? [] : [check];
  }

  async otherChecks(repo: RepoRef, commit: string): Promise<string[]> {
    const files = await this.listing(repo, commit);
    return otherChecks(files.paths, (path) => files.read(path));
  }

  async follow(repo: RepoRef, head: string, rules: FollowRules): Promise<Chance | null> {
    const { guarded } = await this.#followed(repo, head, rules);
    const own = chanceIn(rules.checks.join("\n"));
    return guarded.reduce((found, one) => strongerChance(found, one.chance), own);
  }

  async #followed(repo: RepoRef, head: string, rules: FollowRules) {
    const commits = [...new Set([rules.base, head])];
    const opened = await this.open(repo, commits);
    return {
      opened,
      guarded: await Promise.all(commits.map((commit) => this.#guards(opened, commit, rules))),
    };
  }

  async candidate(repo: RepoRef, head: string, patch: Buffer, rules: ChangeRules): Promise<CandidateOutcome> {
    const { opened, guarded } = await this.#followed(repo, head, rules);
    const guards = guarded.flatMap((one) => one.guards);
    const { scope, grants } = rules;
    const check = checkPatch(patch, { scope, grants, guards });
    if (!check.ok) {
      const message = check.path === null ? check.message : `${check.path}: ${check.message}`;
      return { kind: "refused", code: check.code, message };
    }
    const broken = breachOf(check.files, rules.policy); // director/D10
    if (broken !== null) return { kind: "refused", code: "ANT_PATCH_POLICY", message: broken };
    const outside = outsideOf(check.files, rules.files);
    if (outside !== null) return { kind: "refused", code: "ANT_PATCH_SCOPE", message: outside };
    try {
      const candidate = await applyPatch(opened, head, patch, { threeWay: true });
      const { overlay, deletions } = candidate;
      if (overlay.length + deletions.length === 0)
        return { kind: "refused", code: "ANT_PATCH_EMPTY", message: ALREADY_THERE };
      const { entries } = await this.#filesOf(opened, head);
      const changed = overlay.map(({ path }) => path);
      await refuseLfsOf(opened, head, entries, changed);
      const texts = new Map(overlay.map(({ path, content }) => [path, content]));
      const added = addedJudges(
        check.files,
        rules.checks,
        grants,
        (path) => texts.get(path)?.toString("latin1") ?? "",
      );
      const data = await judgingData(check.files, guards, grants, (words) => filesWith(opened, head, words));
      const own = chanceIn([...rules.checks, patch.toString("latin1")].join("\n"));
      const chance = guarded.reduce((found, one) => strongerChance(found, one.chance), own);
      return {
        kind: "candidate",
        candidate,
        files: check.files,
        unproven: check.unproven,
        guards,
        judges: [...added.judges, ...data],
        tests: added.tests,
        chance,
        aware: await this.#awareOf(opened, head, texts),
      };
    } catch (error) {
      // Only a fault of the patch becomes a verdict. An unreadable repository does not.
      if (!(error instanceof AntiphonError) || !error.code.startsWith("ANT_PATCH_")) throw error;
      return { kind: "refused", code: error.code, message: error.detail };
    }
  }

  /** The old text is read only where the new one shows a sign. */
  async #awareOf(opened: Repo, head: string, texts: ReadonlyMap<string, Buffer>): Promise<readonly Aware[]> {
    const listing = await this.#filesOf(opened, head);
    let names: ReadonlySet<string> | null = null;
    const isKnown = (name: string): boolean => {
      names ??= new Set(listing.paths.map((path) => path.slice(path.lastIndexOf("/") + 1)));
      return names.has(name);
    };
    const after = new Map([...texts].map(([path, content]) => [path, content.toString("latin1")]));
    const suspects = [...after].filter(([path, text]) => mayBeAware(path, text, isKnown));
    if (suspects.length === 0) return [];
    const before = await listing.readAll(suspects.map(([path]) => path));
    return suspects.flatMap(([path, text]) => awareOf(path, text, before.get(path) ?? "", isKnown));
  }

  async openedFiles(
    repo: RepoRef,
    head: string,
    { files, guards }: Pick<AppliedChange, "files" | "guards">,
    { grants, opened }: { readonly grants: readonly string[]; readonly opened: ReadonlySet<string> },
  ): Promise<readonly string[]> {
    if (opened.size === 0) return [];
    const found = await this.open(repo, [head]);
    return openedFiles(files, opened, guards, grants, (words) => filesWith(found, head, words));
  }

  #guards(repo: Repo, commit: string, { checks, discovered }: FollowRules): Promise<Guarded> {
    const key = JSON.stringify([repo.gitDir, commit, checks, discovered]);
    return remembered(this.#guarded, key, async () => {
      const listing = await this.#filesOf(repo, commit);
      let chance: Chance | null = null;
      const read = async (paths: readonly string[]) => {
        const texts = await listing.readAll(paths);
        for (const text of texts.values()) chance = strongerChance(chance, chanceIn(text));
        return texts;
      };
      return { guards: await protectionOf({ listing, read, checks, discovered }), chance };
    });
  }

  async commit(repo: RepoRef, { parent, candidate, message, trailers, at }: NewCommit): Promise<string> {
    const { tree, objects } = candidate;
    const signer = this.#signer;
    const opened = await this.open(repo, [parent]);
    const built = await buildCommit(opened, { parent, tree, objects, message, trailers, at, signer });
    if (this.#remotes.urlOf(repo) !== null) await this.#remotes.keep(opened, built, parent);
    return built;
  }

  async land(repo: RepoRef, ref: string, commit: string, previous: string | null): Promise<LandingBody> {
    const url = this.#remotes.urlOf(repo);
    if (url !== null) return this.#remotes.land(url, ref, commit, previous);
    return this.moveBranch(repo, { ref, next: commit, old: previous });
  }

  /** Moves a branch of a repository beside the Director, and the work tree that has it checked out. */
  async moveBranch(
    repo: RepoRef,
    { ref, next: commit, old: previous }: RefMove,
    rewrites = false,
  ): Promise<LandingBody> {
    const opened = await this.open(repo);
    const move = previous === null ? null : { ref, from: previous, to: commit };
    if (move !== null) {
      await this.#requireServedFiles(opened, ref);
      const files = await updateWorktree(opened, { ...move, dryRun: true });
      if (files.kind === "refused" && (await tipOf(opened, ref)) === previous)
        return { kind: "refused", code: "ANT_REPO_DIRTY", message: files.message };
    }
    const outcome =
      rewrites && previous !== null
        ? await rewriteRef(opened, ref, commit, previous)
        : await landRef(opened, ref, commit, previous);
    if (outcome.kind === "moved") {
      const message = `${ref} is at ${outcome.actual ?? "nothing"} instead of ${previous ?? "nothing"}`;
      return { kind: "refused", code: "ANT_LANDING_HEAD_MOVED", message };
    }
    if (move !== null) await this.#bringUp(opened, move);
    return { kind: "landed", ref, commit, previous };
  }

  /**
   * Updates the work tree's files after a landing. A lock on the index throws, so that the landing is tried again until
   * the files follow it. Files that must stay as they are do not undo the landing; the log gives the reason.
   */
  async #bringUp(repo: Repo, move: { ref: string; from: string; to: string }): Promise<void> {
    const files = await updateWorktree(repo, move);
    if (files.kind !== "refused") return;
    const { top, message: reason } = files;
    this.#log.warn(
      { ref: move.ref, commit: move.to, top, reason },
      "landed, but the files stay as they were",
    );
  }

  async replayOnto(repo: RepoRef, from: string, to: string, head: string): Promise<ReplayOutcome> {
    const opened = await this.open(repo, [from, to, head]);
    const outcome = await replayCommits(opened, {
      from,
      to,
      onto: head,
      signer: this.#signer,
    });
    if (outcome.kind === "conflict") return { kind: "conflict", message: outcome.message };
    if (this.#remotes.urlOf(repo) !== null) await this.#remotes.keep(opened, outcome.commit, head);
    return outcome;
  }

  async tip(repo: RepoRef, ref: string): Promise<string | null> {
    const url = this.#remotes.urlOf(repo);
    return url === null ? tipOf(await this.open(repo), ref) : this.#remotes.tip(url, ref);
  }

  /** A branch may be checked out in a linked work tree, which may lie anywhere. */
  async #requireServedFiles(repo: Repo, ref: string): Promise<void> {
    if (this.#roots === null) return;
    const top = await checkedOutAt(repo, ref);
    if (top !== null && top !== repo.top) await openServed(top, this.#roots);
  }
}
