/**
 * The plan of a job's /workspace: the tree with its linked files, minus deletions, plus the overlay, plus files, in this
 * order, and the environment below them. Everything is fetched and checked before a sandbox is touched. The resulting
 * baseline is kept, so that changes can be found afterwards.
 */
import { createHash } from "node:crypto";
import { AntiphonError, limits, type BlobRef, type SandboxWorkspace } from "@antiphon/contracts";
import { withRoom, type LaidLayer } from "../environments/laying.ts";
import { collectBounds } from "../job-limits.ts";
import type { Layers } from "../layers/layer-store.ts";
import type { Layering, Tell } from "../layers/layering.ts";
import type { Wanted } from "../pool/lease.ts";
import type { ContainerLimits, SandboxOrder } from "../ports.ts";
import { Collector, type Baseline, type BaselineEntry, type CollectBounds } from "./collected.ts";
import { checkPath } from "./path-rule.ts";
import { Refusal } from "./refusal.ts";
import { sha256Hasher } from "./sha256.ts";
import { TarReader } from "./tar-reader.ts";
import type { WritableFile } from "./tar-writer.ts";
import type { Tree, TreeArchive } from "./tree-archive.ts";

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

export interface WorkspaceSources {
  readonly trees: TreeArchive;
  readonly layering: Pick<Layering, "layersOf"> & Partial<Pick<Layering, "under">>;
  readonly blob: (ref: BlobRef) => Promise<Buffer>;
}

export async function planWorkspace(
  asked: SandboxWorkspace,
  sources: WorkspaceSources,
  roomBytes: number,
  environment: LaidLayer | null = null,
  tell?: Tell,
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
    const layers = await sources.layering.layersOf(near, environment, tell);
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
