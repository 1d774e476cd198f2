/** The environment of an attempt: decided by the run's base, and prepared before the attempt is dispatched. */
import type { AgentSpec, EnvironmentSpec, PlannedGate, TreeRef } from "@antiphon/contracts";
import { intentOf, type RunState } from "@antiphon/run";
import type { EnvironmentPort, RepositoryPort, SetupOf, VerdictEvidencePort } from "../ports.ts";
import { lackedBy } from "./run-room.ts";
import { withAgent } from "./agent-environment.ts";
import { Undispatched } from "../effects/undispatched.ts";
import { EnvironmentFailed } from "./environment-failed.ts";

export function setupOf(run: RunState, image: string | null): SetupOf {
  const { options, base } = intentOf(run);
  return { repo: base.repo, base: base.commit, named: options.setup, lacks: lackedBy(image, options) };
}

/**
 * The tree that decides and prepares the environment of an attempt on `tree`. A judge's is decided by the commit that people gave:
 * what a change installs could put another program in its place.
 */
export function decidingTree(
  run: RunState,
  gate: PlannedGate | undefined,
  tree: Promise<TreeRef>,
  repository: Pick<RepositoryPort, "exportBase">,
): Promise<TreeRef> {
  const { base, policy } = intentOf(run);
  return gate === undefined || policy?.own_judges === true
    ? tree
    : repository.exportBase(base.repo, base.commit);
}

interface Ports {
  readonly environments: EnvironmentPort;
  readonly evidence: VerdictEvidencePort;
}

interface EnvironmentOrder {
  readonly taskId: string;
  readonly epoch: number;
  readonly agent: AgentSpec;
  readonly image: string | null;
}

/** Null: the tree needs none. @throws Undispatched, or the fault of the machine */
export async function dispatchEnvironment(
  run: RunState,
  { taskId, epoch, agent, image }: EnvironmentOrder,
  tree: TreeRef,
  { environments, evidence }: Ports,
  signal: AbortSignal,
): Promise<EnvironmentSpec | null> {
  const { retry_of, base } = intentOf(run);
  const spec = withAgent(
    await environments.specFor(setupOf(run, image), tree, null),
    agent,
    tree,
    base.repo.path,
  );
  if (spec === null) return null;
  const order = { run: run.runId, task: taskId, epoch, image, spec };
  try {
    // Retrying a run is how a person asks for a setup that failed.
    await environments.prepare({ ...order, again: retry_of !== undefined }, signal);
    return spec;
  } catch (error) {
    if (!(error instanceof EnvironmentFailed)) throw error;
    const none = { change: [], base: [], hollow: [], withoutJudges: [], own: [] };
    const stored = await evidence.store({
      ...{ run: run.runId, task: taskId, epoch, head: run.head, tree: null, commit: null },
      ...{ verdict: "UNVERIFIABLE", code: error.code, message: error.detail, trials: none },
      environment: error.report,
    });
    throw new Undispatched("ANT_ENVIRONMENT_FAILED", error.detail, stored);
  }
}
