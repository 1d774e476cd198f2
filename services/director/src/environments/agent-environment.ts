/**
 * The environment of an attempt whose agent has to be installed: the agent first, then what the repository's setup makes. Pure.
 *
 * Installing pinned packages reads nothing of the repository, so an attempt that needs only these shares its environment
 * with all repositories; other commands might, and are kept to their repository. The clean room never has the agent.
 */
import {
  isPinnedInstall,
  sha256Hex,
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
  const { name, install, tools, path } = agent;
  const found = `agent ${name}: ${install.join("; ")}`.slice(0, 512);
  if (spec !== null)
    return {
      ...spec,
      commands: [...install, ...spec.commands],
      tools: [...new Set([...tools, ...spec.tools])],
      path: [...path, ...spec.path],
      found: [found, ...spec.found],
    };
  return {
    commands: [...install],
    inputs: sha256Hex(JSON.stringify(install)),
    decided_by: [],
    scope: install.every(isPinnedInstall) ? `agent:${name}` : `repo:${sha256Hex(repository).slice(0, 32)}`,
    source: { tree: tree.object, overlay: null, deletions: [] },
    tools: [...tools],
    path: [...path],
    variables: {},
    found: [found],
    packages: null,
  };
}
