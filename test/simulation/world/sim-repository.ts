/**
 * The user's repository, like git: content-addressed commits, refs that move by compare-and-set. A tree is a name that says
 * how the tree was made.
 *
 * The rules of landing are those of git/src/landing/landing.ts (git/G3).
 */
import {
  AntiphonError,
  sha256Hex,
  type LandingBody,
  type RepoInspectReply,
  type RepoInspectRequest,
  type RepoRef,
  type TreeRef,
} from "@antiphon/contracts";
import type {
  CandidateOutcome,
  NewCommit,
  ReplayOutcome,
  RepositoryPort,
} from "../../../services/director/src/ports.ts";
import type { ReplayedCommit } from "@antiphon/git";
import type { SimNode } from "../node.ts";

export interface SimCommit {
  readonly id: string;
  readonly parent: string | null;
  readonly tree: string;
  readonly trailers: Readonly<Record<string, string>>;
}

export const REPO: RepoRef = { name: "app", path: "/repo" };
const GIT_MS = [2, 60] as const;
const hex40 = (text: string): string => sha256Hex(text).slice(0, 40);

/** The repository itself; it knows no process. */
export class SimGit {
  readonly commits = new Map<string, SimCommit>();
  readonly refs = new Map<string, string>();
  /** Every move of a ref that ever happened, in order. */
  readonly moves: { ref: string; from: string | null; to: string }[] = [];
  readonly root: string;

  constructor() {
    this.root = this.write(null, hex40("tree"), {}, "root");
    this.refs.set("refs/heads/main", this.root);
  }

  write(parent: string | null, tree: string, trailers: Record<string, string>, message: string): string {
    const id = hex40(JSON.stringify([parent, tree, trailers, message]));
    this.commits.set(id, { id, parent, tree, trailers });
    return id;
  }

  need(id: string): SimCommit {
    const commit = this.commits.get(id);
    if (commit === undefined) throw new AntiphonError("ANT_REPO_UNREADABLE", `no commit ${id}`);
    return commit;
  }

  /** The tree that results from `patch` on a commit; null: it does not apply. */
  treeWith(head: string, patch: Buffer): string | null {
    const text = patch.toString("utf8");
    return text.startsWith("broken") ? null : hex40(`${this.need(head).tree} ${text}`);
  }

  isAncestor(older: string, newer: string): boolean {
    for (let id: string | null = newer; id !== null; id = this.need(id).parent) if (id === older) return true;
    return false;
  }

  /** As `landRef`: landed, already there, or the ref is elsewhere. */
  land(ref: string, next: string, old: string | null): "landed" | "already" | "moved" {
    const actual = this.refs.get(ref) ?? null;
    if (old !== null && old !== next && !this.isAncestor(old, next)) {
      if (!this.isAncestor(next, old))
        throw new AntiphonError("ANT_LANDING_REWIND", `${next} does not build on ${old}`);
    } else if (actual === old && old !== next) {
      this.refs.set(ref, next);
      this.moves.push({ ref, from: old, to: next });
      return "landed";
    }
    return actual !== null && this.isAncestor(next, actual) ? "already" : "moved";
  }

  /** Ids from `tip` back to the root, which is left out. */
  history(tip: string): string[] {
    const ids: string[] = [];
    for (let id: string | null = tip; id !== null && id !== this.root; id = this.need(id).parent)
      ids.push(id);
    return ids;
  }
}

/** Git, as run by one Director process. */
export class SimRepository implements RepositoryPort {
  private readonly git: SimGit;
  private readonly node: SimNode;

  constructor(git: SimGit, node: SimNode) {
    this.git = git;
    this.node = node;
  }

  inspect(request: RepoInspectRequest): Promise<Extract<RepoInspectReply, { ok: true }>> {
    return this.ask(() => ({
      ok: true,
      base: { repo: request.repo, ref: "refs/heads/main", commit: this.git.root },
      branch: "main",
      dirty: false,
      files: 1,
      image: null,
    }));
  }

  exportBase(_repo: RepoRef, commit: string): Promise<TreeRef> {
    return this.ask(() => {
      const { tree } = this.git.need(commit);
      return { commit, tree, object: `tree-${tree}.tar`, bytes: 1024, files: 1 };
    });
  }

  exportNamed(_repo: RepoRef, _commit: string, object: string): Promise<readonly string[]> {
    return Promise.resolve([object]);
  }

  exportHistory(): Promise<null> {
    return this.ask(() => null);
  }

  follow(): Promise<null> {
    return this.ask(() => null);
  }

  openedFiles(): Promise<readonly string[]> {
    return this.ask(() => []);
  }

  texts(): Promise<ReadonlyMap<string, string>> {
    return this.ask(() => new Map());
  }

  otherChecks(): Promise<string[]> {
    return this.ask(() => []);
  }

  diff(_repo: RepoRef, from: string, to: string): Promise<Buffer> {
    return this.ask(() => Buffer.from(`${this.git.need(from).tree}..${this.git.need(to).tree}`));
  }

  discoverChecks(): Promise<string[]> {
    return this.ask(() => ["npm test"]);
  }

  candidate(_repo: RepoRef, head: string, patch: Buffer): Promise<CandidateOutcome> {
    return this.ask((): CandidateOutcome => {
      const tree = this.git.treeWith(head, patch);
      if (tree === null)
        return { kind: "refused", code: "ANT_PATCH_DOES_NOT_APPLY", message: "it does not fit" };
      const overlay = [{ path: "change.txt", mode: "100644" as const, content: patch }];
      return {
        kind: "candidate",
        unproven: [],
        guards: [],
        judges: [],
        tests: [],
        chance: null,
        aware: [],
        files: [],
        candidate: { tree, objects: [], overlay, deletions: [] },
      };
    });
  }

  commit(_repo: RepoRef, { parent, candidate, message, trailers, at }: NewCommit): Promise<string> {
    return this.ask(() => {
      this.git.need(parent);
      return this.git.write(parent, candidate.tree, trailers, `${message} ${at.getTime()}`);
    });
  }

  land(_repo: RepoRef, ref: string, commit: string, previous: string | null): Promise<LandingBody> {
    return this.ask((): LandingBody => {
      const outcome = this.git.land(ref, commit, previous);
      if (outcome !== "moved") return { kind: "landed", ref, commit, previous };
      const message = `${ref} is at ${this.git.refs.get(ref) ?? "nothing"} instead of ${previous ?? "nothing"}`;
      return { kind: "refused", code: "ANT_LANDING_HEAD_MOVED", message };
    });
  }

  replayOnto(_repo: RepoRef, from: string, to: string, head: string): Promise<ReplayOutcome> {
    return this.ask((): ReplayOutcome => {
      let commit = head;
      let { tree } = this.git.need(head);
      const ids = this.git.history(to);
      const own = ids.slice(0, ids.includes(from) ? ids.indexOf(from) : ids.length);
      const commits: ReplayedCommit[] = [];
      for (const id of own.toReversed()) {
        const one = this.git.need(id);
        const parent = commit;
        tree = hex40(`${tree} + ${one.tree}`);
        commit = this.git.write(commit, tree, one.trailers, "replayed");
        commits.push({ of: id, head: parent, commit, tree });
      }
      return { kind: "replayed", commit, tree, commits };
    });
  }

  tip(_repo: RepoRef, ref: string): Promise<string | null> {
    return this.ask(() => this.git.refs.get(ref) ?? null);
  }

  runsOf(_repo: RepoRef, commit: string): Promise<readonly string[]> {
    return this.ask(() => [this.git.need(commit).trailers["Antiphon-Run"] ?? []].flat());
  }

  private ask<T>(effect: () => T): Promise<T> {
    return this.node.ask(GIT_MS, effect);
  }
}
