/** A job as it was asked for, and with everything that was resolved, fetched and checked for it before a sandbox is taken. */
import type { SandboxEvent, SandboxRequest, ServiceSpec } from "@antiphon/contracts";
import type { ServicesParts } from "../beside/running-services.ts";
import { EnvironmentFailure } from "../environments/environment-failure.ts";
import type { LaidLayer } from "../environments/laying.ts";
import type { ImageFacts } from "../ports.ts";
import { planWorkspace, type WorkspacePlan } from "../workspace/workspace-plan.ts";
import type { JobPlan } from "./job-plan.ts";
import type { JobPorts } from "./job-ports.ts";
import type { Progress } from "./progress.ts";

export interface Job {
  readonly request: SandboxRequest;
  readonly ports: JobPorts;
  readonly emit: (event: SandboxEvent) => void;
  readonly progress: Progress;
}

export interface PreparedJob extends Job {
  readonly plan: JobPlan;
  readonly image: ImageFacts;
  readonly workspace: WorkspacePlan;
  /** In the order of the request. Without an image of its own, a service has that of the sandbox. */
  readonly services: ServicesParts["services"];
}

export async function prepare(plan: JobPlan, job: Job, signal: AbortSignal): Promise<PreparedJob> {
  const { request, ports, emit, progress } = job;
  const image = await ports.image(request.image);
  progress.meta.image = image.id;
  emit({ kind: "accepted", node: ports.node, image: image.id });
  const environment = await ensureEnvironment(job, image, signal);
  const { workspaceBytes } = plan.limits.container;
  const { sources, progress: tell } = ports;
  const workspace = await planWorkspace(request.workspace, sources, workspaceBytes, environment, tell);
  const services: { spec: ServiceSpec; image: ImageFacts }[] = [];
  for (const spec of request.services ?? [])
    services.push({ spec, image: spec.image === undefined ? image : await ports.image(spec.image) });
  return { ...job, plan, image, workspace, services };
}

/** Finds or makes the environment that the request names; null: it names none. */
async function ensureEnvironment(
  { request, ports, progress }: Job,
  image: ImageFacts,
  signal: AbortSignal,
): Promise<LaidLayer | null> {
  const spec = request.workspace.environment;
  if (spec === undefined) return null;
  try {
    const { report, layer } = await ports.environments.ensure({ request, spec, image, ports }, signal);
    progress.environment = report;
    return { ...layer, owned: spec.owned === true };
  } catch (error) {
    if (error instanceof EnvironmentFailure) progress.environment = error.report;
    throw error;
  }
}
