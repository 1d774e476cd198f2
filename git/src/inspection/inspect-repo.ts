/**
 * Inspects a repository before a run is accepted: a description, or a coded reason why no run can start from it.
 * About seven processes (30 ms): find it, HEAD's branch, resolve, count, and the state of the work tree.
 */
import { basename, dirname } from "node:path";
import {
  AntiphonError,
  type GateSkill,
  type NamedImage,
  type RepoBase,
  type ServiceSpec,
} from "@antiphon/contracts";
import { runGit } from "../process/git-process.ts";
import {
  branchRef,
  objectStore,
  openRepo,
  requireName,
  resolveRefs,
  type Repo,
  type RepoLike,
  type ResolvedRef,
} from "../repository/repo.ts";
import { absentContent } from "../linked/absent-content.ts";
import { linkedContent, type Served } from "../linked/linked-content.ts";
import { requireLandTarget } from "./land-target.ts";
import { neededPrograms, type NeededPrograms } from "./needed-programs.ts";
import { projectSettings, type ProjectSettings } from "./project-file.ts";
import { targetGates } from "./target-gates.ts";
import { decodePath } from "../objects/git-path.ts";
import { withScratch, type Scratch } from "../repository/scratch.ts";
import { requireHeldNames } from "../trees/plain-names.ts";
import { currentBranch, dirtyPaths } from "../work-tree/work-tree.ts";

export interface InspectOptions {
  /** A branch, tag or commit; default HEAD. */
  baseRef?: string;
  /** The branch the result is to land on, in addition to the run's own branch. It may be new. */
  landOn?: string;
  allowDirty?: boolean;
  /** True if the run names its image itself. */
  imageNamed?: boolean;
  /** Whether a further place of the repository may be read. Default: all may. */
  served?: Served;
  /** The facts of a tree from the call before, or read now. Default: always read. */
  known?: (tree: string, read: () => Promise<TreeFacts>) => Promise<TreeFacts>;
}

/** What an inspection takes from the listing of a whole tree. */
export interface TreeFacts {
  readonly files: number;
  /** It may have submodules or files in Git LFS. */
  readonly mayLink: boolean;
  readonly needs: NeededPrograms;
}

export interface RepoInspection {
  base: RepoBase;
  /** Tree of the base commit. */
  tree: string;
  /** The checked-out branch as a full ref; null when detached. */
  branch: string | null;
  dirty: boolean;
  files: number;
  /** The image that the base tree names; see project-file.ts. */
  image: NamedImage | null;
  /** The checks need a repository, says the base tree. */
  verifyGit: boolean;
  /** Services that the checks need, says the base tree. */
  services: ServiceSpec[];
  /** Skills that judge each change before it lands, say the base tree and the branch that the result is to land on. */
  gates: GateSkill[];
  /** Content that the base commit points to and that is not on this machine, in sentences for people. */
  absent: string[];
  needs: NeededPrograms;
  bare: boolean;
  /** The directory that all work trees of the repository share: the parent of `.git`, or the bare repository. */
  home: string;
  /** `landOn` as a full ref, its current commit, and the branch that moves with it (a symbolic ref leads to another one). */
  landOn: { ref: string; commit: string | null; moves: string } | null;
}

/** Run branches are `antiphon/<runId>`, so a branch with this name would block them. */
const RUN_BRANCHES = "refs/heads/antiphon";

/** Git itself stops after five. */
const MAX_HOPS = 6;

/**
 * @throws AntiphonError ANT_REPO_NOT_FOUND, _NOT_GIT, _NO_COMMITS, _REF_NOT_FOUND, _REF_INVALID, _REF_BLOCKED,
 *   _REF_RESERVED, _REF_UNSURE, _DIRTY, _INCOMPLETE, _FILE_NAME, _UNREADABLE, _CONFIG_INVALID, _DEVCONTAINER
 */
export async function inspectRepo(repo: RepoLike, options: InspectOptions = {}): Promise<RepoInspection> {
  const opened = await openRepo(repo);
  const wanted = requireName(options.baseRef ?? "HEAD");
  const landRef = options.landOn === undefined ? null : branchRef(options.landOn);
  const names = [wanted, "HEAD", landRef ?? "HEAD", RUN_BRANCHES, `refs/heads/${wanted}`];
  const [branch, resolved] = await Promise.all([currentBranch(opened), resolveRefs(opened, names)]);
  const [base, head, target, blocking, asBranch] = resolved;
  if (blocking != null)
    throw new AntiphonError("ANT_REPO_REF_BLOCKED", "there is a branch called `antiphon`");
  if (base == null) throw await missingBase(opened, wanted, branch);
  const [{ absent, needs, gates, ...facts }, dirty, name, moves, ofTarget] = await Promise.all([
    readBase(opened, base, options),
    checkDirty(opened, options, { base, head: head ?? null, branch, landRef }),
    fullName(opened, wanted, base, branch, asBranch ?? null),
    landRef === null ? null : movedBy(opened, landRef),
    landRef === null ? [] : gatesOfTarget(opened, base, target ?? null),
  ]);
  if (options.landOn !== undefined && moves !== null)
    await requireLandTarget(opened, options.landOn, { moves, isNew: target == null });
  return {
    base: { repo: { name: opened.name, path: opened.top }, ref: name, commit: base.commit },
    tree: base.tree,
    branch,
    dirty,
    ...facts,
    gates: [...new Set([...gates, ...ofTarget])],
    absent,
    needs,
    bare: opened.bare,
    home: basename(opened.commonDir) === ".git" ? dirname(opened.commonDir) : opened.commonDir,
    landOn:
      landRef === null ? null : { ref: landRef, commit: target?.commit ?? null, moves: moves ?? landRef },
  };
}

async function gatesOfTarget(
  repo: Repo,
  base: ResolvedRef,
  target: ResolvedRef | null,
): Promise<GateSkill[]> {
  if (target === null || target.tree === base.tree) return [];
  return withScratch(objectStore(repo), (scratch) => targetGates(scratch, target));
}

/** The ref that `update-ref` writes: symbolic refs are followed as git follows them. */
async function movedBy(repo: Repo, ref: string): Promise<string> {
  let moved = ref;
  for (let hop = 0; hop < MAX_HOPS; hop += 1) {
    const result = await runGit({ gitDir: repo.commonDir, args: ["symbolic-ref", "-q", moved] });
    if (result.exitCode !== 0) return moved;
    moved = result.stdout.toString("utf8").trim();
  }
  throw new AntiphonError("ANT_REPO_REF_INVALID", `${ref} leads to too many symbolic refs`);
}

async function missingBase(repo: Repo, wanted: string, branch: string | null): Promise<AntiphonError> {
  if (wanted !== "HEAD")
    return new AntiphonError("ANT_REPO_REF_NOT_FOUND", `there is no commit called ${wanted}`);
  const [tip] = branch === null ? [null] : await resolveRefs(repo, [branch]);
  if (tip != null) return new AntiphonError("ANT_REPO_UNREADABLE", `HEAD is not readable in ${repo.top}`);
  const known = await runGit({ gitDir: repo.commonDir, args: ["for-each-ref", "--count=1"] });
  if (known.stdout.length > 0 && branch !== null) {
    return new AntiphonError("ANT_REPO_REF_NOT_FOUND", `the checked-out branch ${branch} has no commit yet`);
  }
  return new AntiphonError("ANT_REPO_NO_COMMITS", `${repo.top} has no commit yet`);
}

/** `refs/heads/main` if the name resolves to a ref; else HEAD when detached; else the commit id. */
async function fullName(
  repo: Repo,
  wanted: string,
  base: ResolvedRef,
  branch: string | null,
  asBranch: ResolvedRef | null,
): Promise<string> {
  if (wanted === "HEAD" || wanted === "@") return branch ?? "HEAD";
  if (wanted.startsWith("refs/")) return wanted;
  if (asBranch?.commit === base.commit) return `refs/heads/${wanted}`;
  const result = await runGit({
    gitDir: repo.commonDir,
    args: ["rev-parse", "--symbolic-full-name", "--end-of-options", wanted],
  });
  const names = result.stdout
    .toString("utf8")
    .split("\n")
    .filter((line) => line.startsWith("refs/"));
  return names[0] ?? base.commit;
}

async function readBase(
  repo: Repo,
  { tree, commit }: ResolvedRef,
  { imageNamed = false, served = async () => true, known = (_, read) => read() }: InspectOptions,
): Promise<Pick<RepoInspection, "files" | "absent" | "needs" | keyof ProjectSettings>> {
  return withScratch(objectStore(repo), async (scratch) => {
    const reading = projectSettings(scratch, tree, imageNamed);
    reading.catch(() => undefined); // A tree that is not whole is told of first.
    const { files, mayLink, needs } = await known(tree, () => treeFacts(scratch, tree));
    const settings = await reading;
    const absent = mayLink ? absentContent(await linkedContent(repo, commit, served)) : [];
    return { files, ...settings, absent, needs };
  });
}

/** Reads the whole listing, so that a missing tree of a partial clone is detected here. One process. */
async function treeFacts(scratch: Scratch, tree: string): Promise<TreeFacts> {
  const result = await scratch.run({ args: ["ls-tree", "-r", "-z", "--full-tree", tree] });
  if (result.exitCode !== 0) {
    const detail = "trees of the base commit are missing: the clone is partial or damaged";
    throw new AntiphonError("ANT_REPO_INCOMPLETE", detail, { data: { stderr: result.stderr } });
  }
  const listing = result.stdout;
  const paths = pathsOf(listing);
  requireHeldNames(paths);
  const mayLink = listing.includes("160000 commit ") || listing.includes(".gitattributes\0");
  return { files: paths.length, mayLink, needs: neededPrograms(listing) };
}

/** Each record of the listing is `<mode> <type> <id>\t<path>`. */
function pathsOf(listing: Buffer): string[] {
  const paths: string[] = [];
  for (let at = 0, end = listing.indexOf(0); end !== -1; at = end + 1, end = listing.indexOf(0, at))
    paths.push(decodePath(listing.subarray(listing.indexOf(9, at) + 1, end)));
  return paths;
}

/** Local changes matter when the run starts from the checked-out commit or lands on the checked-out branch. */
async function checkDirty(
  repo: Repo,
  options: InspectOptions,
  found: { base: ResolvedRef; head: ResolvedRef | null; branch: string | null; landRef: string | null },
): Promise<boolean> {
  if (repo.bare || found.head === null) return false;
  const paths = await dirtyPaths(repo, found.head.commit);
  if (paths.length === 0) return false;
  const matters =
    found.base.commit === found.head.commit || (found.landRef !== null && found.landRef === found.branch);
  if (matters && options.allowDirty !== true) {
    const shown = paths.slice(0, 3).join(", ");
    const detail = `uncommitted changes in ${shown}${paths.length > 3 ? " and others" : ""}`;
    throw new AntiphonError("ANT_REPO_DIRTY", detail, { data: { paths } });
  }
  return true;
}
