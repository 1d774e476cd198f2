// Which contract is a document meant to be, and does it hold to it?
import { parse as parseYaml } from "yaml"; // JSON is YAML.
import type { Problem } from "@antiphon/contracts";
import { registry, schemaNameOf, SCHEMA_NAMES } from "@antiphon/contracts/registry";
import type { SchemaName } from "@antiphon/contracts/registry";
import { validate } from "@antiphon/contracts/validate";
import { Failure, usage } from "./failure.ts";

export type DocumentCheck = { ok: true; schema: string } | { ok: false; schema: string; errors: Problem[] };

export async function check(text: string, schema: string | null): Promise<DocumentCheck> {
  const document = await parse(text);
  const name = schema === null ? guess(document) : schemaNameOf(schema);
  if (name === null) {
    if (schema === null)
      throw usage(
        "cannot tell which contract this is meant to be",
        "name it with --schema; `antiphon explain` lists them",
      );
    throw new Failure("ANT_CONTRACT_UNKNOWN", `there is no contract ${JSON.stringify(schema)}`, {});
  }
  const outcome = validate(name, document);
  return outcome.ok
    ? { ok: true, schema: registry[name].id }
    : { ok: false, schema: registry[name].id, errors: outcome.errors };
}

async function parse(text: string): Promise<unknown> {
  try {
    return parseYaml(text);
  } catch (error) {
    throw usage(`neither JSON nor YAML: ${(error as Error).message.split("\n")[0] ?? ""}`);
  }
}

/** A document names itself by its `$id`, or by being the only contract whose required keys it has. */
function guess(document: unknown): SchemaName | null {
  if (typeof document !== "object" || document === null) return null;
  const keys = new Set(Object.keys(document));
  const scores = SCHEMA_NAMES.map((name) => {
    const schema = registry[name].schema as { required?: string[] };
    const required = schema.required ?? [];
    const fits = required.length > 0 && required.every((key) => keys.has(key));
    return { name, score: fits ? required.length : 0 };
  });
  const best = scores.sort((a, b) => b.score - a.score)[0];
  return best === undefined || best.score === 0 ? null : best.name;
}
