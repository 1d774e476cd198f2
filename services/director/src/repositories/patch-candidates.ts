/** Judges a patch by the rules of its run, and applies it to a head: the tree that the clean room gets and that may land. */
import { AntiphonError, type RepoRef } from "@antiphon/contracts";
import {
  addedJudges,
  applyPatch,
  awareOf,
  chanceIn,
  checkPatch,
  filesWith,
  ignoreRules,
  judgingData,
  mayBeAware,
  mayLookAround,
  mayReadVariables,
  openedFiles,
  protectionOf,
  refuseLfsOf,
  strongerChance,
  type Aware,
  type Chance,
  type Guard,
  type Repo,
} from "@antiphon/git";
import type { AppliedChange, CandidateOutcome, ChangeRules } from "../ports.ts";
import { isUnmeasured, measured } from "../verification/measured.ts";
import { breachOf } from "../verification/policy-bounds.ts";
import { outsideOf } from "../verification/task-files.ts";
import type { CommitExports } from "./commit-exports.ts";
import { Remembered } from "./remembered.ts";
import type { ServedRepositories } from "./served-repositories.ts";

const REMEMBERED = 256;
/** Answers of searches; one holds at most 4 MiB. */
const SEARCHES = 32;
const ALREADY_THERE = "the attempt changed nothing: the run's head holds the same change already";

/** What protects the checks on a commit, and the source of chance in what they reach. */
interface Guarded {
  guards: Guard[];
  chance: Chance | null;
}

interface Followed {
  readonly opened: Repo;
  readonly guards: Guard[];
  readonly chance: Chance | null;
}

export type FollowRules = Pick<ChangeRules, "checks" | "discovered" | "base">;

export class PatchCandidates {
  readonly #served: ServedRepositories;
  readonly #exports: CommitExports;
  readonly #guarded = new Remembered<Guarded>(REMEMBERED);
  readonly #searches = new Remembered<readonly string[]>(SEARCHES);

  constructor(served: ServedRepositories, exports: CommitExports) {
    this.#served = served;
    this.#exports = exports;
  }

  /** What the checks reach, on the commit that decides and on the head. `text`: what else may hold a source of chance. */
  async follow(repo: RepoRef, head: string, rules: FollowRules, text = ""): Promise<Followed> {
    const commits = [...new Set([rules.base, head])];
    const opened = await this.#served.open(repo, commits);
    const guarded = await Promise.all(commits.map((commit) => this.#guards(opened, commit, rules)));
    const own = chanceIn([...rules.checks, text].join("\n"));
    return {
      opened,
      guards: guarded.flatMap((one) => one.guards),
      chance: guarded.reduce((found, one) => strongerChance(found, one.chance), own),
    };
  }

  #guards(repo: Repo, commit: string, { checks, discovered }: FollowRules): Promise<Guarded> {
    const key = JSON.stringify([repo.gitDir, commit, checks, discovered]);
    return this.#guarded.get(key, async () => {
      const listing = await this.#exports.filesOf(repo, commit);
      let chance: Chance | null = null;
      const read = async (paths: readonly string[]) => {
        const texts = await listing.readAll(paths);
        for (const text of texts.values()) chance = strongerChance(chance, chanceIn(text));
        return texts;
      };
      return { guards: await protectionOf({ listing, read, checks, discovered }), chance };
    });
  }

  async candidate(repo: RepoRef, head: string, patch: Buffer, rules: ChangeRules): Promise<CandidateOutcome> {
    const followed = await this.follow(repo, head, rules, patch.toString("latin1"));
    const { scope, grants } = rules;
    const check = checkPatch(patch, { scope, grants, guards: followed.guards });
    if (!check.ok) {
      const message = check.path === null ? check.message : `${check.path}: ${check.message}`;
      return { kind: "refused", code: check.code, message };
    }
    const broken = breachOf(check.files, rules.policy); // director/D10
    if (broken !== null) return { kind: "refused", code: "ANT_PATCH_POLICY", message: broken };
    const outside = outsideOf(check.files, rules.files);
    if (outside !== null) return { kind: "refused", code: "ANT_PATCH_SCOPE", message: outside };
    try {
      return await this.#applied(followed, head, patch, check, rules);
    } catch (error) {
      // Only a fault of the patch becomes a verdict. An unreadable repository does not.
      if (!(error instanceof AntiphonError) || !error.code.startsWith("ANT_PATCH_")) throw error;
      return { kind: "refused", code: error.code, message: error.detail };
    }
  }

  async #applied(
    { opened, guards, chance }: Followed,
    head: string,
    patch: Buffer,
    { files: told, unproven }: Pick<AppliedChange, "files" | "unproven">,
    { checks, grants, policy }: ChangeRules,
  ): Promise<CandidateOutcome> {
    const candidate = await applyPatch(opened, head, patch, { threeWay: true });
    const { overlay, deletions } = candidate;
    if (overlay.length + deletions.length === 0)
      return { kind: "refused", code: "ANT_PATCH_EMPTY", message: ALREADY_THERE };
    const { entries } = await this.#exports.filesOf(opened, head);
    const changed = overlay.map(({ path }) => path);
    await refuseLfsOf(opened, head, entries, changed);
    const texts = new Map(overlay.map(({ path, content }) => [path, content.toString("latin1")]));
    const files = await this.#measured(opened, head, told, texts);
    const broken = breachOf(files, policy); // director/D10
    if (broken !== null) return { kind: "refused", code: "ANT_PATCH_POLICY", message: broken };
    const added = addedJudges(files, checks, grants, (path) => texts.get(path) ?? "");
    const data = await judgingData(files, guards, grants, this.#filesWith(opened, head));
    return {
      ...{ kind: "candidate", candidate, files, unproven, guards },
      judges: [...added.judges, ...data, ...ignoreRules(files, grants)],
      tests: added.tests,
      chance,
      aware: await this.#awareOf(opened, head, texts),
      looksAround: [...texts].some(([path, text]) => mayLookAround(path, text)),
      readsVariables: [...texts].some(([path, text]) => mayReadVariables(path, text)),
    };
  }

  async #measured(
    opened: Repo,
    head: string,
    files: AppliedChange["files"],
    after: ReadonlyMap<string, string>,
  ): Promise<AppliedChange["files"]> {
    const unmeasured = files.filter(isUnmeasured);
    if (unmeasured.length === 0) return files;
    const listing = await this.#exports.filesOf(opened, head);
    return measured(files, after, await listing.readAll(unmeasured.map(({ path, from }) => from ?? path)));
  }

  /** The old text is read only where the new one shows a sign. */
  async #awareOf(opened: Repo, head: string, after: ReadonlyMap<string, string>): Promise<readonly Aware[]> {
    const listing = await this.#exports.filesOf(opened, head);
    let names: ReadonlySet<string> | null = null;
    const isKnown = (name: string): boolean => {
      names ??= new Set(listing.paths.map((path) => path.slice(path.lastIndexOf("/") + 1)));
      return names.has(name);
    };
    const around = { isKnown, now: Date.now() };
    const suspects = [...after].filter(([path, text]) => mayBeAware(path, text, around));
    if (suspects.length === 0) return [];
    const before = await listing.readAll(suspects.map(([path]) => path));
    return suspects.flatMap(([path, text]) => awareOf(path, text, before.get(path) ?? "", around));
  }

  async openedFiles(
    repo: RepoRef,
    head: string,
    { files, guards }: Pick<AppliedChange, "files" | "guards">,
    { grants, opened }: { readonly grants: readonly string[]; readonly opened: ReadonlySet<string> },
  ): Promise<readonly string[]> {
    if (opened.size === 0) return [];
    const found = await this.#served.open(repo, [head]);
    return openedFiles(files, opened, guards, grants, this.#filesWith(found, head));
  }

  /** A search reads the whole tree. Later attempts of a task change the same files, mostly. */
  #filesWith(repo: Repo, commit: string) {
    return (words: readonly string[]): Promise<readonly string[]> =>
      this.#searches.get(JSON.stringify([repo.gitDir, commit, words]), () => filesWith(repo, commit, words));
  }
}
