// The model host for an agent that does a past run's task again. A run on a server of the user's own stays there: the default host
// of a pack would take the task, and the money, somewhere else. Pure.
import type { AgentPack, AgentSpec } from "@antiphon/contracts";
import { modelHostIn } from "@antiphon/contracts/runs/model-hosts";

/** Undefined: the host of the pack. */
export function pastHost(then: AgentSpec, { name, model }: AgentPack): string | undefined {
  if (then.kind !== "pack" || then.model === undefined) return undefined;
  const { host } = then.model;
  if (then.name === name) return host;
  const isPublic = modelHostIn(model?.host ?? "") !== null;
  return isPublic && modelHostIn(host) === null ? host : undefined;
}
