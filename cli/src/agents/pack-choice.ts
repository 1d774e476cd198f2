// An agent of the command line: a pack, the model that it is to use, and where that is called: `pi@small@models.example`. Pure.
import type { AgentPack } from "@antiphon/contracts";
import type { PackChoice } from "@antiphon/contracts/runs/pack-agent";

/** A version such as `v0.3` is part of a model's name: the last label of a host is letters, or an encoded name. */
const HOST = /^(?:[a-z0-9-]+\.)+(?:[a-z]+|xn--[a-z0-9-]+)$/i;

export interface AgentParts {
  readonly name: string;
  readonly model?: string;
  readonly host?: string;
}

/** The name of a model may hold an `@`, but then no host follows it. */
export function partsOf(given: string): AgentParts {
  const at = given.indexOf("@");
  if (at < 1) return { name: given };
  const rest = given.slice(at + 1);
  const last = rest.lastIndexOf("@");
  const isHost = last >= 0 && HOST.test(rest.slice(last + 1));
  const model = isHost ? rest.slice(0, last) : rest;
  return {
    name: given.slice(0, at),
    ...(model === "" ? {} : { model }),
    ...(isHost ? { host: rest.slice(last + 1) } : {}),
  };
}

/** The flags `--model` and `--model-host`. */
export interface ModelFlags {
  readonly agent?: string | undefined;
  readonly model?: unknown;
  readonly modelHost?: unknown;
}

export const isList = ({ agent = "" }: ModelFlags): boolean => agent.includes(",");

/** Its own model comes first; then that of the flags, which of a list is for the agents that take one. */
export function choiceOf(pack: AgentPack, own: PackChoice | undefined, flags: ModelFlags): PackChoice {
  const takes = !isList(flags) || pack.model !== undefined;
  const flag = (given: unknown): string | undefined =>
    takes && typeof given === "string" ? given : undefined;
  return { model: own?.model ?? flag(flags.model), modelHost: own?.modelHost ?? flag(flags.modelHost) };
}
