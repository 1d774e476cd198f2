/** An entry of the registry. */
import type { TSchema } from "typebox";
import type { Rule } from "../shapes/rule.ts";

/** The seed document of a contract, or `antiphon` for our own. */
export type Source = "000" | "001" | "002" | "003" | "004" | "antiphon";

export type Contract<S extends TSchema = TSchema> = {
  /** Name and version: `DirectorTask.v0`. The `$id` of its JSON Schema file. */
  readonly id: string;
  readonly source: Source;
  readonly schema: S;
  /** Rules that the shape cannot express. */
  readonly rules: readonly Rule[];
};

export function contract<S extends TSchema>(
  id: string,
  source: Source,
  schema: S,
  rules: readonly Rule[] = [],
): Contract<S> {
  return { id, source, schema, rules };
}
