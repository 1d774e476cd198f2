/**
 * The key of an environment: equal keys mean that the same commands prepared the same inputs on the same image, so one
 * preparation serves all of them. Pure.
 *
 * The scope is part of it. Setup runs files that no list of inputs names (a postinstall script), so a tree that an agent
 * changed must not prepare what another run gets.
 */
import { sha256Hex, type EnvironmentSpec } from "@antiphon/contracts";

/** Raise it when the layout of layers or the variables of setup change. */
const FORMAT = 1;

export interface KeyFacts {
  readonly imageId: string;
  /** Operating system and processor of the sandboxes: `linux/x64`. */
  readonly platform: string;
}

export type KeyedSpec = Pick<
  EnvironmentSpec,
  "commands" | "inputs" | "scope" | "path" | "variables" | "tools"
>;

export function environmentKey(spec: KeyedSpec, { imageId, platform }: KeyFacts): string {
  const { commands, inputs, scope, path, variables, tools } = spec;
  const sorted = Object.entries(variables).sort(([a], [b]) => (a < b ? -1 : 1));
  return sha256Hex(JSON.stringify([FORMAT, platform, imageId, commands, inputs, scope, path, sorted, tools]));
}

/** Enough of a key to tell environments apart in messages for people. */
export const shortKey = (key: string): string => key.slice(0, 8);
