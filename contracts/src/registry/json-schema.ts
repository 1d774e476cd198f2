/** The JSON Schema file of a contract: self-contained, with the contract's id as `$id`, readable by any implementation. */
import { registry, type SchemaName } from "./registry.ts";

export const DIALECT = "https://json-schema.org/draft/2020-12/schema";

export function jsonSchemaOf(name: SchemaName): Record<string, unknown> {
  const { id, schema, rules } = registry[name];
  const comment = rules.map((rule) => `${rule.id}: ${rule.says}`).join("\n");
  return {
    $schema: DIALECT,
    $id: id,
    title: id,
    ...(comment === "" ? {} : { $comment: `Rules beyond the shape:\n${comment}` }),
    ...(JSON.parse(JSON.stringify(schema)) as Record<string, unknown>),
  };
}

/** The schema without descriptions and without the order of enums. Two equal shapes accept the same documents. */
export function shapeOnly(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(shapeOnly);
  if (typeof schema !== "object" || schema === null) return schema;
  const out: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(schema)) {
    if (key === "properties") {
      out[key] = Object.fromEntries(
        Object.entries(value as object).map(([name, inner]) => [name, shapeOnly(inner)]),
      );
    } else if (key === "enum") {
      out[key] = [...(value as unknown[])].sort();
    } else if (!["description", "title", "$comment", "examples"].includes(key)) out[key] = shapeOnly(value);
  }
  return out;
}
