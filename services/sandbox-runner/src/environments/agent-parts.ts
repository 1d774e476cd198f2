/**
 * The two parts of an environment with an agent that fits any image: the agent, installed in the standard image, and in the
 * image of the run what the repository's setup makes beside it. Pure.
 */
import { sha256Hex, type EnvironmentAgent, type EnvironmentSpec } from "@antiphon/contracts";

/** In the standard image there is one part, as for any other environment. */
export function wholeSpec({ agent, ...spec }: EnvironmentSpec): EnvironmentSpec {
  if (agent === undefined) return spec;
  return { ...spec, tools: [...new Set([...agent.tools, ...spec.tools])] };
}

/** Equal for every repository and image, and equal to that of a run in the standard image that needs only the agent. */
export function agentSpec(
  spec: EnvironmentSpec,
  { installs, scope, tools, path }: EnvironmentAgent,
): EnvironmentSpec {
  const commands = spec.commands.slice(0, installs);
  return {
    commands,
    inputs: sha256Hex(JSON.stringify(commands)),
    decided_by: [],
    scope,
    source: spec.source,
    tools,
    path,
    variables: {},
    found: spec.found.slice(0, 1),
    packages: null,
  };
}

/** @param layer the digest of the installed agent, which is part of what this one is made from */
export function specBeside(
  { agent: _none, ...spec }: EnvironmentSpec,
  { installs, starts }: EnvironmentAgent,
  layer: string,
): EnvironmentSpec {
  const commands = [starts, ...spec.commands.slice(installs)];
  return { ...spec, commands, inputs: sha256Hex(JSON.stringify([spec.inputs, layer])) };
}
