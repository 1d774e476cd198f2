/**
 * Fills /workspace as a request says: the tree, minus deletions, plus the overlay, plus files, in this order. The
 * resulting baseline is kept, so that changes can be found afterwards.
 */
import { createHash } from "node:crypto";
import { AntiphonError, limits, type BlobRef, type SandboxWorkspace } from "@antiphon/contracts";
import { Collector, type Baseline, type BaselineEntry, type CollectBounds } from "./collected.ts";
import { collectBounds } from "../job-limits.ts";
import { checkPath } from "./path-rule.ts";
import { Refusal } from "./refusal.ts";
import { TarReader } from "./tar-reader.ts";
import { canonicalTar, type WritableFile } from "./tar-writer.ts";
import type { ContainerLimits, Sandbox, SandboxOrder } from "../ports.ts";
import type { EnvironmentFacts, Layering } from "../layers/layering.ts";
import type { Layers } from "../layers/layer-store.ts";
import type { Lease } from "../pool/pool.ts";
import { sha256Hasher } from "./sha256.ts";
import type { Tree, TreeArchive } from "./tree-archive.ts";

export interface WorkspacePlan {
  readonly tree: Tree | null;
  readonly deletions: readonly string[];
  readonly files: readonly WritableFile[];
  readonly baseline: Baseline;
  /** The layers to mount; null when the tree is streamed. */
  readonly layers: Layers | null;
}

export interface WorkspaceSources {
  readonly trees: TreeArchive;
  readonly layering: Pick<Layering, "layersOf">;
  readonly blob: (ref: BlobRef) => Promise<Buffer>;
}

/** Fetches and checks everything that is needed, before a sandbox is touched. */
export async function planWorkspace(
  asked: SandboxWorkspace,
  sources: WorkspaceSources,
  roomBytes: number,
  environment: EnvironmentFacts | null = null,
): Promise<WorkspacePlan> {
  const tree = asked.tree === null ? null : await sources.trees.open(asked.tree);
  try {
    const files = new Map<string, WritableFile>();
    if (asked.overlay !== null) {
      for (const file of readOverlay(await sources.blob(asked.overlay))) files.set(file.path, file);
    }
    for (const { path, mode, content, encoding } of asked.files) {
      files.set(checkPath(path), { path, mode, content: Buffer.from(content, encoding) });
    }
    const deletions = asked.deletions.map(checkPath);
    const layers = await sources.layering.layersOf(tree, environment);
    const streamed = layers === null ? (tree?.contentBytes ?? 0) : 0;
    const bytes = [...files.values()].reduce((sum, file) => sum + file.content.length, streamed);
    if (bytes > roomBytes) {
      throw new AntiphonError(
        "ANT_SANDBOX_REFUSED",
        `${bytes} bytes do not fit in a workspace of ${roomBytes}`,
      );
    }
    const baseline = baselineOf(tree, deletions, [...files.values()]);
    return { tree, deletions, files: [...files.values()], baseline, layers };
  } catch (error) {
    if (error instanceof Refusal)
      throw new AntiphonError("ANT_SANDBOX_PATH", error.message, { data: { rule: error.rule } });
    throw error;
  }
}

/** The sandbox to ask for, without its labels. */
export function orderOf(
  { layers }: Pick<WorkspacePlan, "layers">,
  imageId: string,
  limits: ContainerLimits,
): Omit<SandboxOrder, "labels"> {
  return { imageId, limits, ...(layers === null ? {} : { layers }) };
}

/** Git's ignore rules apply only where there is a repository. */
export function boundsOf({ tree }: WorkspacePlan): CollectBounds {
  return { ...collectBounds(), gitignore: tree !== null };
}

/**
 * What the supervisor has to remember of a workspace: nothing; what helps it to find the changes (`hint`); or every file
 * as it is now (`exact`).
 */
export type Remembering = "nothing" | "hint" | "exact";

/** Fills a leased sandbox. */
export async function fillWorkspace(
  lease: Pick<Lease, "sandbox" | "holds">,
  plan: WorkspacePlan,
  remembering: Remembering,
): Promise<void> {
  const { sandbox, holds } = lease;
  const isPreloaded = holds !== null && holds.name === plan.tree?.name;
  if (holds !== null && !isPreloaded) await sandbox.remove(topOf(holds.baseline));
  if (plan.tree !== null && !isPreloaded) await sandbox.putTar(plan.tree.tar());
  await layOver(sandbox, plan);
  const isRemembered = isPreloaded && (remembering === "hint" || plan.baseline === plan.tree?.baseline);
  if (remembering !== "nothing" && !isRemembered) await sandbox.remember?.(plan.baseline);
}

/**
 * Fills a sandbox again whose files were changed, and from which everything new was removed.
 * @param lay puts back what comes before the tree
 */
export async function refillWorkspace(
  sandbox: Sandbox,
  plan: WorkspacePlan,
  lay: () => Promise<void>,
): Promise<void> {
  await sandbox.remove(topOf(plan.baseline));
  await lay();
  await fillWorkspace({ sandbox, holds: null }, plan, "exact");
}

/** Applies deletions, overlay and files to the current content. */
export async function layOver(sandbox: Sandbox, plan: WorkspacePlan): Promise<void> {
  if (plan.deletions.length > 0) await sandbox.remove(plan.deletions);
  if (plan.files.length > 0) await sandbox.putTar(canonicalTar(plan.files));
}

function topOf(baseline: Baseline): readonly string[] {
  return [...new Set([...baseline.keys()].map((path) => path.split("/")[0] ?? path))];
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
  deletions: readonly string[],
  files: readonly WritableFile[],
): Baseline {
  if (tree !== null && deletions.length === 0 && files.length === 0) return tree.baseline;
  const baseline = new Map<string, BaselineEntry>(tree?.baseline ?? []);
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
