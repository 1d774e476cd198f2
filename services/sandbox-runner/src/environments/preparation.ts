/**
 * Prepares one environment: runs the setup commands in a sandbox of their own, on the source tree, with a network for
 * downloads only, and writes what they made to a file of this machine.
 *
 * Lifecycle: planned -> leased -> filled -> linked -> each command -> packed -> over. The sandbox is released on every path.
 *
 * A fault of the repository ends as a `SetupFault`. Every other error is the machine's fault and says nothing about the repository.
 */
import {
  limits,
  type EgressGrant,
  type EgressReport,
  type EnvironmentSpec,
  type SandboxRequest,
} from "@antiphon/contracts";
import type { JobPorts } from "../jobs/job-ports.ts";
import { whileLeased } from "../jobs/lease.ts";
import type { ContainerLimits, ImageFacts } from "../ports.ts";
import { planWorkspace } from "../workspace/workspace-plan.ts";
import { fillWorkspace } from "../workspace/workspace.ts";
import { setupVariables } from "./variables.ts";
import type { WrittenLayer } from "./layer-writer.ts";
import { unpackHome, withRoom, type LayerContent } from "./laying.ts";
import { packed } from "./packing.ts";
import { runSetup } from "./setup-commands.ts";
import { faultOf } from "./setup-fault.ts";
import type { SetupLog } from "./setup-log.ts";
import type { SetupNews } from "./setup-news.ts";

export type PreparationPorts = Pick<
  JobPorts,
  "defaults" | "lease" | "sources" | "egress" | "onOutput" | "later"
>;

export interface Preparation {
  readonly spec: EnvironmentSpec;
  readonly image: ImageFacts;
  /** The job that needs it. */
  readonly request: SandboxRequest;
  /** A new file. */
  readonly path: string;
  readonly log: SetupLog;
  readonly news: SetupNews;
  /** An installed agent, which is there before the commands run; null: none. */
  readonly base: LayerContent | null;
}

export interface Made {
  readonly layer: WrittenLayer;
  /** True: it is that of the installed agent, and no file was written. */
  readonly isBase: boolean;
  readonly egress: EgressReport;
}

/** Fetching is all that setup may do; see the egress gateway's rules for these hosts. */
const DOWNLOADS: EgressGrant = { profile: { mode: "git+pkg", allowlist: [] }, model_budget: null };
const STREAMED = { layersOf: () => Promise.resolve(null) };

export async function prepare(
  preparation: Preparation,
  ports: PreparationPorts,
  signal: AbortSignal,
): Promise<Made> {
  const { spec, image, request, path, log, news, base } = preparation;
  const own = setupLimits(ports.defaults);
  const container = base === null ? own : withRoom(own, base);
  const source = { ...spec.source, files: [] };
  // Streamed and not mounted over a layer, because what setup makes is read out as a whole.
  const sources = { ...ports.sources, layering: STREAMED };
  const workspace = await planWorkspace(source, sources, container.workspaceBytes);
  const words = { ...request, purpose: "prepare" as const, budgetMs: limits.environmentBudgetMs };
  const order = { imageId: image.id, limits: container };
  const lease = await ports.lease(order, words, workspace.wanted);
  return whileLeased(lease, ports, signal, async () => {
    const { sandbox } = lease;
    await fillWorkspace(lease, workspace, "nothing");
    if (base !== null) await unpackHome(sandbox, base);
    const link = await ports.egress(request, DOWNLOADS, sandbox);
    const variables = setupVariables(image, spec);
    try {
      const { onOutput } = ports;
      await runSetup({ spec, variables, proxy: link.env, log, news, onOutput }, sandbox);
    } catch (error) {
      const egress = await link.close();
      throw faultOf(error, egress);
    }
    const egress = await link.close();
    // Its one command has shown that the agent starts here.
    if (base !== null && spec.commands.length === 1)
      return { layer: { ...base, sha256: base.digest }, isBase: true, egress };
    news.storing();
    const isTracked = (tracked: string): boolean => workspace.baseline.has(tracked);
    const layer = await packed(path, sandbox, isTracked).catch((error: unknown) => {
      throw faultOf(error, egress);
    });
    return { layer, isBase: false, egress };
  });
}

/** Room for the tree, for what setup makes, and for what it downloads first. Memory holds them all. */
function setupLimits(defaults: ContainerLimits): ContainerLimits {
  const { environmentBytes } = limits;
  return {
    ...defaults,
    memoryBytes: defaults.memoryBytes + 2 * environmentBytes,
    workspaceBytes: defaults.workspaceBytes + environmentBytes,
    tmpBytes: defaults.tmpBytes + environmentBytes,
    tmpInodes: defaults.tmpInodes + limits.environmentFiles,
  };
}
