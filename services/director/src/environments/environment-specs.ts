/**
 * Decides which environment a tree needs.
 *
 * The commit that people gave decides it for all tasks of a run, so that nothing an agent wrote runs in an environment that
 * others share. Only where a change alters the commands or the files that decide them, the changed tree gets an
 * environment of its own, prepared from that tree and found by nobody else (its scope is the tree's id).
 */
import {
  sha256Hex,
  type BlobRef,
  type EnvironmentSpec,
  type ProjectFile,
  type RepoRef,
  type TreeRef,
} from "@antiphon/contracts";
import {
  discoverEnvironment,
  lockedPackages,
  overlayTar,
  projectFileOf,
  type CommitFiles,
  type EnvironmentPlan,
} from "@antiphon/git";
import type { Blobs } from "@antiphon/runtime";
import type { Candidate, SetupOf } from "../ports.ts";
import { Remembered } from "../repositories/remembered.ts";

export interface EnvironmentSources {
  listing(repo: RepoRef, commit: string): Promise<CommitFiles>;
  exportBase(repo: RepoRef, commit: string): Promise<TreeRef>;
}

/** A plan with the identity of the files that decide it. */
interface Decided {
  readonly plan: EnvironmentPlan;
  readonly inputs: string;
  readonly packages: BlobRef | null;
}

/** What was decided for the files of a commit, and the files whose contents decided it, besides the names of all. */
interface Decision {
  readonly decided: Decided | null;
  readonly by: ReadonlySet<string>;
}

type Files = Pick<CommitFiles, "paths" | "read" | "id" | "idOf">;

/** Commits whose plan is remembered; it never changes for a commit. */
const REMEMBERED = 256;
const NAMED_FILES = 64;

export class EnvironmentSpecs {
  readonly #sources: EnvironmentSources;
  readonly #files: Blobs;
  readonly #known = new Remembered<Decision>(REMEMBERED);

  constructor(sources: EnvironmentSources, files: Blobs) {
    this.#sources = sources;
    this.#files = files;
  }

  /** Null: it needs none. @param candidate a change of the tree */
  async specFor(setup: SetupOf, tree: TreeRef, candidate: Candidate | null): Promise<EnvironmentSpec | null> {
    const { repo, base } = setup;
    const { decided: given } = await this.#decided(setup, base);
    const isGiven = candidate === null && tree.commit === base;
    const wanted = isGiven ? given : await this.#changed(setup, tree, candidate);
    if (wanted === null) return null;
    if (given !== null && isSame(given, wanted)) {
      const source = {
        tree: (await this.#sources.exportBase(repo, base)).object,
        overlay: null,
        deletions: [],
      };
      return specOf(given, `repo:${sha256Hex(repo.path).slice(0, 32)}`, source);
    }
    const overlay = candidate === null ? null : overlayTar(candidate.overlay);
    const source = {
      tree: tree.object,
      overlay: overlay === null ? null : await this.#files.put(null, overlay),
      deletions: [...(candidate?.deletions ?? [])],
    };
    return specOf(wanted, `tree:${candidate?.tree ?? tree.tree}`, source);
  }

  async #changed(setup: SetupOf, tree: TreeRef, candidate: Candidate | null): Promise<Decided | null> {
    const before = await this.#decided(setup, tree.commit);
    if (candidate === null) return before.decided;
    const files = await this.#sources.listing(setup.repo, tree.commit);
    // The same names, and the same contents wherever one counts, decide the same.
    const isOther = ({ path }: { readonly path: string }): boolean =>
      files.id(path) === null || before.by.has(path);
    if (candidate.deletions.length === 0 && !candidate.overlay.some(isOther)) return before.decided;
    const project = await this.#project(setup);
    return (await this.#decide(changedFiles(files, candidate), setup, project)).decided;
  }

  #decided(setup: SetupOf, commit: string): Promise<Decision> {
    const key = JSON.stringify([
      setup.repo.path,
      setup.base,
      commit,
      setup.named ?? null,
      setup.lacks ?? null,
    ]);
    return this.#known.get(key, async () => {
      const files = await this.#sources.listing(setup.repo, commit);
      return this.#decide(files, setup, await this.#project(setup));
    });
  }

  /** No task can choose the setup of the next one, so the base's own file counts. */
  async #project({ repo, base }: SetupOf): Promise<ProjectFile | null> {
    const files = await this.#sources.listing(repo, base);
    for (const name of ["antiphon.yaml", "antiphon.yml"]) {
      const text = files.paths.includes(name) ? await files.read(name) : null;
      if (text !== null) return projectFileOf(text, name);
    }
    return null;
  }

  async #decide(files: Files, setup: SetupOf, project: ProjectFile | null): Promise<Decision> {
    const by = new Set<string>();
    const read = (path: string): Promise<string | null> => {
      by.add(path);
      return files.read(path);
    };
    const plan = await discoverEnvironment({
      listing: files.paths,
      read,
      project,
      named: setup.named,
      lacks: setup.lacks,
    });
    if (plan === null) return { decided: null, by };
    for (const path of plan.inputs) by.add(path);
    const inputs = sha256Hex(JSON.stringify(plan.inputs.map((path) => [path, files.id(path)])));
    const packages = await lockedPackages(plan.inputs, read);
    const listed = packages.length === 0 ? null : Buffer.from(`${JSON.stringify(packages, null, 1)}\n`);
    const stored = listed === null ? null : await this.#files.put(null, listed);
    return { decided: { plan, inputs, packages: stored }, by };
  }
}

function isSame(a: Decided, b: Decided): boolean {
  const words = ({ plan: { commands, path, variables, tools }, inputs }: Decided): string =>
    JSON.stringify([commands, path, variables, tools, inputs]);
  return words(a) === words(b);
}

function specOf(
  { plan, inputs, packages }: Decided,
  scope: string,
  source: EnvironmentSpec["source"],
): EnvironmentSpec {
  const { commands, tools, path, variables, found, owned } = plan;
  return {
    commands: [...commands],
    inputs,
    decided_by: plan.inputs.slice(0, NAMED_FILES),
    scope,
    source,
    tools: [...tools],
    path: [...path],
    variables: { ...variables },
    found: [...found],
    packages,
    ...(owned ? { owned } : {}),
  };
}

/** The files of a commit with a change over them. */
function changedFiles(files: Files, { overlay, deletions }: Candidate): Files {
  const changed = new Map(overlay.map((file) => [file.path, file.content]));
  const gone = new Set(deletions);
  const added = overlay.map(({ path }) => path).filter((path) => files.id(path) === null);
  return {
    paths: [...files.paths.filter((path) => !gone.has(path)), ...added],
    read: async (path) => changed.get(path)?.toString("utf8") ?? (gone.has(path) ? null : files.read(path)),
    id: (path) => {
      const content = changed.get(path);
      if (content !== undefined) return files.idOf(content);
      return gone.has(path) ? null : files.id(path);
    },
    idOf: (content) => files.idOf(content),
  };
}
