/** A release pins every shape and its golden fixtures, so that later code can be compared with them. */
import { jsonSchemaOf, registry, SCHEMA_NAMES } from "@antiphon/contracts";
import { goldenOf } from "./proof.ts";

export type Release = {
  version: string;
  contracts: Record<string, { schema: Record<string, unknown>; valid: Record<string, unknown> }>;
};

export function releaseOf(version: string): Release {
  const contracts = Object.fromEntries(
    SCHEMA_NAMES.map((name) => [
      registry[name].id,
      { schema: jsonSchemaOf(name), valid: goldenOf(registry[name].id).valid },
    ]),
  );
  return { version, contracts };
}
