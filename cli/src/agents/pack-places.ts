// The directories of agent packs.
import { join } from "node:path";
import type { CliContext } from "../context.ts";

/** Where packs with a name are, in the order in which they are looked for. */
export interface PackPlaces {
  readonly own: string;
  readonly shipped: string;
}

export function placesOf({ config, root }: Pick<CliContext, "config" | "root">): PackPlaces {
  return { own: join(config.stateDir, "agents"), shipped: join(root, "agents") };
}
