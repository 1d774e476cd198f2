/** Secrets in the environment that one service uses: the others start without them. Pure. */
import { PROVIDER_KEYS } from "@antiphon/contracts/runs/model-hosts";

const OWNERS: Readonly<Record<string, readonly string[]>> = {
  "sandbox-runner": ["E2B_API_KEY"],
  egress: Object.values(PROVIDER_KEYS).flat(),
};

/** Empty values for what a child of this name is not given. */
export function withheldFrom(name: string): Record<string, string> {
  const others = Object.entries(OWNERS).filter(([owner]) => owner !== name);
  return Object.fromEntries(others.flatMap(([, variables]) => variables.map((variable) => [variable, ""])));
}
