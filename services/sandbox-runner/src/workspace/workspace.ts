/**
 * Fills /workspace as a request says: the tree with its linked files, minus deletions, plus the overlay, plus files, in
 * this order. The resulting baseline is kept, so that changes can be found afterwards.
 *
 * A `.git` directory for the tree is put in beside it. It is in no baseline, and nothing of it is ever read back. Its index
 * takes a file of the tree for unchanged by its time, the same for all, so files that are put over the tree have another.
 */
import { createHash } from "node:crypto";
import { AntiphonError, limits, type BlobRef, type SandboxWorkspace } from "@antiphon/contracts";
import { Collector, type Baseline, type BaselineEntry, type CollectBounds } from "./collected.ts";
import { layWorkspace, withRoom, type LaidLayer } from "../environments/laying.ts";
import { collectBounds } from "../job-limits.ts";
import { checkPath } from "./path-rule.ts";
import { Refusal } from "./refusal.ts";
import { TarReader } from "./tar-reader.ts";
import { canonicalTar, type WritableFile } from "./tar-writer.ts";
import type { ContainerLimits, Sandbox, SandboxOrder, Remembering } from "../ports.ts";
import type { Layering } from "../layers/layering.ts";
import type { Layers } from "../layers/layer-store.ts";
import type { HeldTree, Lease, Wanted } from "../pool/pool.ts";
import { sha256Hasher } from "./sha256.ts";
import type { Tree, TreeArchive } from "./tree-archive.ts";
import { filesIn, stepBetween, type TreeStep } from "./tree-step.ts";

export interface WorkspacePlan {
  readonly tree: Tree | null;
  /** Files of submodules and of Git LFS, laid over the tree. */
  readonly linked: Tree | null;
  /** A `.git` directory; null: none was asked for, or the workspace has no room for it. */
  readonly git: Tree | null;
  readonly deletions: readonly string[];
  readonly files: readonly WritableFile[];
  readonly baseline: Baseline;
  /** Laid before the tree, which comes over it. */
  readonly environment: LaidLayer | null;
  /** The layers to mount; null when the tree is streamed. */
  readonly layers: Layers | null;
  /** What a warm sandbox should hold. */
  readonly wanted: Wanted;
  /** Of the changes. Git's ignore rules apply only where there is a repository; the files of an environment are no changes. */
  readonly bounds: CollectBounds;
}

/** Of more paths, reading the whole workspace again is as fast. */
const MOST_NAMED = 200;

export interface WorkspaceSources {
  readonly trees: TreeArchive;
  readonly layering: Pick<Layering, "layersOf"> & Partial<Pick<Layering, "under">>;
  readonly blob: (ref: BlobRef) => Promise<Buffer>;
}

/** Fetches and checks everything that is needed, before a sandbox is touched. */
export async function planWorkspace(
  asked: SandboxWorkspace,
  sources: WorkspaceSources,
  roomBytes: number,
  environment: LaidLayer | null = null,
): Promise<WorkspacePlan> {
  const open = (name: string | null | undefined): Promise<Tree> | null =>
    name === null || name === undefined ? null : sources.trees.open(name);
  const [tree, linked, git] = await Promise.all([open(asked.tree), open(asked.linked), open(asked.git)]);
  try {
    const files = new Map<string, WritableFile>();
    if (asked.overlay !== null) {
      for (const file of readOverlay(await sources.blob(asked.overlay))) files.set(file.path, file);
    }
    for (const { path, mode, content, encoding } of asked.files) {
      files.set(checkPath(path), { path, mode, content: Buffer.from(content, encoding) });
    }
    const deletions = asked.deletions.map(checkPath);
    const near = tree === null ? null : (sources.layering.under?.(tree) ?? tree);
    const layers = await sources.layering.layersOf(near, environment);
    const streamed = (layers === null ? (tree?.contentBytes ?? 0) : 0) + (linked?.contentBytes ?? 0);
    const bytes = [...files.values()].reduce((sum, file) => sum + file.content.length, streamed);
    if (bytes > roomBytes) {
      throw new AntiphonError(
        "ANT_SANDBOX_REFUSED",
        `${bytes} bytes do not fit in a workspace of ${roomBytes}`,
      );
    }
    const baseline = baselineOf(tree, linked, deletions, [...files.values()]);
    const hasRoom = bytes + (git?.contentBytes ?? 0) <= roomBytes;
    const put = { files: [...files.values()], deletions, git: hasRoom ? git : null };
    const wanted = { tree: layers === null ? tree : near, repository: put.git?.name ?? null };
    const leftOut = environment === null ? {} : { leftOut: environment.workspacePaths };
    const bounds = { ...collectBounds(), gitignore: tree !== null, ...leftOut };
    return { tree, linked, ...put, baseline, environment, layers, wanted, bounds };
  } catch (error) {
    if (error instanceof Refusal)
      throw new AntiphonError("ANT_SANDBOX_PATH", error.message, { data: { rule: error.rule } });
    throw error;
  }
}

/** The sandbox to ask for, without its labels. A mounted environment takes no room of the job's own. */
export function orderOf(
  { layers, environment }: Pick<WorkspacePlan, "layers" | "environment">,
  imageId: string,
  own: ContainerLimits,
): Omit<SandboxOrder, "labels"> {
  if (layers !== null) return { imageId, limits: own, layers };
  return { imageId, limits: environment === null ? own : withRoom(own, environment) };
}

/** Fills a leased sandbox. */
export async function fillWorkspace(
  lease: Pick<Lease, "sandbox" | "holds" | "repository">,
  plan: WorkspacePlan,
  remembering: Remembering,
  traced: readonly string[] = [],
): Promise<void> {
  const { sandbox, holds } = lease;
  const isPreloaded = holds !== null && holds.name === plan.tree?.name;
  const changed = isPreloaded ? [] : await putTree(sandbox, holds, plan.tree);
  if (plan.linked !== null) await sandbox.putTar(plan.linked.tar());
  await putRepository(sandbox, plan, lease.repository);
  await layOver(sandbox, plan);
  const isHint = remembering === "hint";
  // A sandbox over layers finds its changes in its top.
  const isRemembered =
    plan.layers === null ? isPreloaded && (isHint || plan.baseline === plan.tree?.baseline) : isHint;
  if (remembering === "nothing" || isRemembered) return;
  await sandbox.remember?.(plan.baseline, traced, changedSince(changed, plan));
}

/** Undefined: everything. A sandbox that holds a tree remembers it. */
function changedSince(
  changed: readonly string[] | null,
  { linked, deletions, files }: WorkspacePlan,
): readonly string[] | undefined {
  if (changed === null || linked !== null) return undefined;
  const paths = [...changed, ...deletions, ...files.map(({ path }) => path)];
  return paths.length > MOST_NAMED ? undefined : paths;
}

/**
 * `holds`: the tree that is in the sandbox.
 * @returns the paths that were put in or removed; null: everything
 */
async function putTree(
  sandbox: Sandbox,
  holds: Lease["holds"],
  tree: Tree | null,
): Promise<readonly string[] | null> {
  const step = holds === null || tree === null ? null : stepTo(holds, tree);
  if (step !== null) {
    if (step.remove.length > 0) await sandbox.remove(step.remove);
    if (step.put.size > 0) await sandbox.putTar(await step.tar());
    return [...step.remove, ...step.put];
  }
  if (holds !== null) await sandbox.remove(topOf([...holds.baseline.keys(), ...holds.directories]));
  if (tree !== null) await sandbox.putTar(tree.tar());
  return null;
}

interface KnownStep extends TreeStep {
  readonly from: string;
  /** Of the files to put. */
  tar(): Promise<Buffer>;
}

/** The last step to each tree: all sandboxes of a run need the same, and finding its files reads the whole tree. */
const STEPS = new WeakMap<Tree, KnownStep>();

function stepTo(holds: HeldTree, tree: Tree): KnownStep | null {
  const known = STEPS.get(tree);
  if (known?.from === holds.name) return known;
  const step = stepBetween(holds, tree);
  if (step === null) return null;
  let made: Promise<Buffer> | null = null;
  const tar = (): Promise<Buffer> => {
    made ??= filesIn(tree, step.put).then((files) => canonicalTar(files));
    made.catch(() => STEPS.delete(tree));
    return made;
  };
  const found = { ...step, from: holds.name, tar };
  STEPS.set(tree, found);
  return found;
}

/** Fills a sandbox again from which everything new was removed. Without changed files, only the repository is missing. */
export async function refillWorkspace(
  sandbox: Sandbox,
  plan: WorkspacePlan,
  filesChanged: boolean,
  traced: readonly string[] = [],
): Promise<void> {
  if (!filesChanged) return putRepository(sandbox, plan);
  await sandbox.remove(topOf(plan.baseline.keys()));
  if (plan.environment !== null) await layWorkspace(sandbox, plan.environment, plan.baseline);
  await fillWorkspace({ sandbox, holds: null, repository: null }, plan, "exact", traced);
}

/** Puts the `.git` directory in, as it was exported. `held`: the one that is there and that no command has seen. */
export async function putRepository(
  sandbox: Sandbox,
  { git }: Pick<WorkspacePlan, "git">,
  held: string | null = null,
): Promise<void> {
  if (held === (git?.name ?? null)) return;
  if (held !== null) await sandbox.remove([".git"]);
  if (git !== null) await sandbox.putTar(git.tar());
}

/** Applies deletions, overlay and files to the current content. */
export async function layOver(sandbox: Sandbox, plan: WorkspacePlan): Promise<void> {
  if (plan.deletions.length > 0) await sandbox.remove(plan.deletions);
  if (plan.files.length === 0) return;
  await sandbox.putTar(canonicalTar(plan.files, Math.floor(Date.now() / 1000)));
}

function topOf(paths: Iterable<string>): readonly string[] {
  return [...new Set([...paths].map((path) => path.split("/")[0] ?? path))];
}

/** Although Antiphon wrote the overlay, it is read by the same rules as content that comes out of a sandbox. */
function readOverlay(bytes: Buffer): readonly WritableFile[] {
  const { sandboxFiles, sandboxFileBytes } = limits;
  const bounds = { ...collectBounds(), maxFiles: sandboxFiles, maxBytes: sandboxFileBytes };
  const collector = new Collector(new Map(), bounds, sha256Hasher);
  const reader = new TarReader(collector);
  reader.push(bytes);
  reader.finish();
  return collector.result().files;
}

function baselineOf(
  tree: Tree | null,
  linked: Tree | null,
  deletions: readonly string[],
  files: readonly WritableFile[],
): Baseline {
  if (tree !== null && linked === null && deletions.length === 0 && files.length === 0) return tree.baseline;
  const baseline = new Map<string, BaselineEntry>([...(tree?.baseline ?? []), ...(linked?.baseline ?? [])]);
  for (const path of deletions) {
    baseline.delete(path);
    for (const other of baseline.keys()) if (other.startsWith(`${path}/`)) baseline.delete(other);
  }
  for (const { path, mode, content } of files) {
    const sha256 = createHash("sha256").update(content).digest("hex");
    baseline.set(path, { kind: "file", mode, size: content.length, sha256 });
  }
  return baseline;
}
