/**
 * The environment of an attempt whose agent has to be installed: the agent first, then what the repository's setup makes. Pure.
 *
 * Installing pinned packages reads nothing of the repository, so an attempt that needs only these shares its environment
 * with all repositories; other commands might, and are kept to their repository. The clean room never has the agent.
 *
 * An agent that brings all that it runs with asks nothing of the run's image, besides the programs that its pack says it needs.
 */
import {
  isPinnedInstall,
  sha256Hex,
  startsAnywhere,
  type AgentSpec,
  type EnvironmentSpec,
  type TreeRef,
} from "@antiphon/contracts";

export function withAgent(
  spec: EnvironmentSpec | null,
  agent: AgentSpec,
  tree: Pick<TreeRef, "object">,
  repository: string,
): EnvironmentSpec | null {
  if (agent.kind !== "pack" || agent.install.length === 0) return spec;
  const { name, install, tools, path, needs = [] } = agent;
  const found = `agent ${name}: ${install.join("; ")}`.slice(0, 512);
  const scope = install.every(isPinnedInstall)
    ? `agent:${name}`
    : `repo:${sha256Hex(repository).slice(0, 32)}`;
  const starts = startsAnywhere(install);
  const ofImage = [...new Set([...(starts === null ? tools : []), ...needs])];
  const own =
    starts === null
      ? {}
      : { agent: { installs: install.length, scope, tools: [...tools], path: [...path], starts } };
  if (spec !== null)
    return {
      ...spec,
      ...own,
      commands: [...install, ...spec.commands],
      tools: [...new Set([...ofImage, ...spec.tools])],
      path: [...path, ...spec.path],
      found: [found, ...spec.found],
    };
  return {
    ...own,
    commands: [...install],
    inputs: sha256Hex(JSON.stringify(install)),
    decided_by: [],
    scope,
    source: { tree: tree.object, overlay: null, deletions: [] },
    tools: [...ofImage],
    path: [...path],
    variables: {},
    found: [found],
    packages: null,
  };
}
