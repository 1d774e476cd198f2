/**
 * Fills /workspace as its plan says, and fills it again for another trial.
 *
 * A `.git` directory for the tree is put in beside it. It is in no baseline, and nothing of it is ever read back. Its index
 * takes a file of the tree for unchanged by its time, the same for all, so files that are put over the tree have another.
 */
import { layWorkspace } from "../environments/laying.ts";
import type { HeldTree, Lease } from "../pool/lease.ts";
import type { Remembering, Sandbox } from "../ports.ts";
import { canonicalTar } from "./tar-writer.ts";
import type { Tree } from "./tree-archive.ts";
import { filesIn, stepBetween, type TreeStep } from "./tree-step.ts";
import type { WorkspacePlan } from "./workspace-plan.ts";

/** Of more paths, reading the whole workspace again is as fast. */
const MOST_NAMED = 200;

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
async function layOver(sandbox: Sandbox, plan: WorkspacePlan): Promise<void> {
  if (plan.deletions.length > 0) await sandbox.remove(plan.deletions);
  if (plan.files.length === 0) return;
  await sandbox.putTar(canonicalTar(plan.files, Math.floor(Date.now() / 1000)));
}

function topOf(paths: Iterable<string>): readonly string[] {
  return [...new Set([...paths].map((path) => path.split("/")[0] ?? path))];
}
