/**
 * Lays an environment under a workspace: its files are in the sandbox before those of the tree, which come over them.
 * A job's writes to them are gone with its sandbox.
 *
 * This way copies the layer into the sandbox, which every provider can do. Its room is added to the job's own limits, so
 * that an environment takes nothing from the work.
 */
import { limits, SANDBOX_HOME } from "@antiphon/contracts";
import type { Lease } from "../pool/lease.ts";
import { SandboxDied, type ContainerLimits, type Sandbox } from "../ports.ts";
import type { Baseline } from "../workspace/collected.ts";
import { firstLine } from "../workspace/no-space.ts";
import type { WorkspacePlan } from "../workspace/workspace-plan.ts";
import { LAYER_PLACES, type LayerTop } from "./layer-rules.ts";
import { subArchive } from "./sub-archive.ts";

export interface LayerContent {
  /** SHA-256 of the tar, in lower-case hex. */
  readonly digest: string;
  readonly bytes: number;
  readonly files: number;
  /** The paths of its files below /workspace. */
  readonly workspacePaths: ReadonlySet<string>;
  tar(): AsyncIterable<Buffer>;
  /** Call it when this machine's copy does not have its digest. */
  drop(): Promise<void>;
}

export interface LaidLayer extends LayerContent {
  /** Each sandbox owns its files. */
  readonly owned: boolean;
}

const MiB = 1024 * 1024;
const UNPACK_MS = 300_000;
const TOOL_ENV = { PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", LC_ALL: "C" };

/** The job's limits with room for the layer. Whole mebibytes, because a tmpfs counts in pages. */
export function withRoom(
  own: ContainerLimits,
  layer: Pick<LayerContent, "bytes" | "files">,
): ContainerLimits {
  const bytes = Math.ceil((layer.bytes * 1.1) / MiB) * MiB + 16 * MiB;
  return {
    ...own,
    memoryBytes: own.memoryBytes + bytes,
    workspaceBytes: own.workspaceBytes + bytes,
    tmpBytes: own.tmpBytes + bytes,
    tmpInodes: own.tmpInodes + 2 * layer.files,
    workspaceInodes: own.workspaceInodes + 2 * layer.files,
  };
}

/** Lays the environment before the workspace is filled. */
export async function layEnvironment(
  { sandbox, warm }: Pick<Lease, "sandbox" | "warm">,
  plan: WorkspacePlan,
): Promise<void> {
  const { environment, layers, baseline } = plan;
  if (layers === null || !warm) await layHome(sandbox, plan); // a warm sandbox over layers has its home already
  if (environment !== null && layers === null) await layWorkspace(sandbox, environment, baseline);
}

export async function layHome(
  sandbox: Sandbox,
  { environment, layers }: Pick<WorkspacePlan, "environment" | "layers">,
): Promise<void> {
  if (environment === null) return;
  if (layers === null) await unpackHome(sandbox, environment);
  else await nameHome(sandbox);
}

/** Gives a sandbox that is mounted over the layer the home directory's usual name. */
export async function nameHome(sandbox: Sandbox): Promise<void> {
  await run(sandbox, ["ln", "-sfn", sandbox.home, SANDBOX_HOME], null);
}

export async function unpackHome(sandbox: Sandbox, layer: LayerContent): Promise<void> {
  await run(sandbox, ["mkdir", "-p", SANDBOX_HOME], null);
  await unpack(sandbox, layer, "home");
}

/** @param tree the files that come over it */
export async function layWorkspace(sandbox: Sandbox, layer: LayerContent, tree: Baseline): Promise<void> {
  await unpack(sandbox, layer, "workspace");
  const hidden = inTheWay(layer.workspacePaths, tree);
  if (hidden.length > 0) await sandbox.remove(hidden);
}

function unpack(sandbox: Sandbox, layer: LayerContent, top: LayerTop): Promise<void> {
  return run(sandbox, ["tar", "-xf", "-", "-C", LAYER_PLACES[top]], subArchive(layer.tar(), top));
}

/** The layer's paths that the tree has as something else, or needs as a directory. The tree wins. */
export function inTheWay(layer: ReadonlySet<string>, tree: Baseline): string[] {
  const found = new Set<string>();
  for (const path of layer) if (tree.has(path) || isBelow(path, tree)) found.add(topmost(path, tree));
  for (const path of tree.keys()) {
    for (let cut = path.lastIndexOf("/"); cut > 0; cut = path.lastIndexOf("/", cut - 1)) {
      const directory = path.slice(0, cut);
      if (layer.has(directory)) found.add(directory);
    }
  }
  return [...found];
}

/** True if a file of the tree stands where `path` needs a directory. */
function isBelow(path: string, tree: Baseline): boolean {
  return topmost(path, tree) !== path;
}

function topmost(path: string, tree: Baseline): string {
  for (let cut = path.indexOf("/"); cut > 0; cut = path.indexOf("/", cut + 1)) {
    const directory = path.slice(0, cut);
    if (tree.has(directory)) return directory;
  }
  return path;
}

async function run(
  sandbox: Sandbox,
  argv: readonly string[],
  stdin: AsyncIterable<Buffer> | null,
): Promise<void> {
  const { exitCode, stderr } = await sandbox.run({
    argv,
    cwd: "/workspace",
    env: TOOL_ENV,
    stdin,
    timeoutMs: UNPACK_MS,
    keepBytes: 4096,
    maxOutputBytes: limits.documentBytes,
  });
  if (exitCode === 0) return;
  const message = `${argv[0] ?? ""} ended with ${exitCode}: ${firstLine(stderr.tail)}`;
  throw new SandboxDied({ kind: "gone", message });
}
