/** The kinds of proof that seed statements need. Each throws (node:assert) if the statement does not hold. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { jsonSchemaOf, validate, type SchemaName } from "@antiphon/contracts";

const root = new URL("../", import.meta.url);

export const readText = (path: string): string => readFileSync(new URL(path, root), "utf8");
export const seedJson = (name: string): unknown => JSON.parse(readText(`fixtures/seeds/${name}`));
export const seedYaml = (name: string): unknown => parse(readText(`fixtures/seeds/${name}`));

type Json = Record<string, unknown>;

type Golden = {
  valid: Record<string, unknown>;
  invalid: Record<string, { path: string; document: unknown }>;
};

export function goldenOf(id: string): Golden {
  return JSON.parse(readText(`fixtures/${id}.json`)) as Golden;
}

/** The named valid fixture, as a fresh copy. */
export function golden(id: string, name = "minimal"): Json {
  const found = goldenOf(id).valid[name];
  assert.ok(found !== undefined, `${id} has no valid fixture ${name}`);
  return found as Json;
}

export function accepts(name: SchemaName, value: unknown): void {
  const result = validate(name, value);
  assert.ok(result.ok, result.ok ? "" : JSON.stringify(result.errors));
}

/** The value is refused at this path, and by this rule if one is named. */
export function refuses(name: SchemaName, value: unknown, path: string, rule?: string): void {
  const result = validate(name, value);
  assert.ok(!result.ok, `${name} accepted ${JSON.stringify(value)?.slice(0, 200)}`);
  assert.equal(result.errors[0]?.path, path);
  if (rule !== undefined) assert.equal(result.errors[0]?.rule, rule);
}

type Node = {
  type?: string;
  enum?: unknown[];
  default?: unknown;
  properties?: Record<string, Node>;
  required?: string[];
  items?: Node;
  anyOf?: Node[];
};

/** The schema node of a field: `return.diff`, `nodes[].kind`. */
export function nodeAt(name: SchemaName, path: string): { node: Node; required: boolean } {
  let node = jsonSchemaOf(name) as Node;
  let required = true;
  for (const part of path.split(".")) {
    const key = part.replace(/\[\]$/, "");
    const next = node.properties?.[key];
    assert.ok(next !== undefined, `${name} has no field ${path}`);
    required = node.required?.includes(key) ?? false;
    node = part.endsWith("[]") ? (next.items ?? {}) : next;
  }
  return { node, required };
}

export function hasField(name: SchemaName, path: string, need: "required" | "optional"): void {
  assert.equal(nodeAt(name, path).required, need === "required", `${name}.${path}`);
}

export function hasDefault(name: SchemaName, path: string, value: unknown): void {
  assert.deepEqual(nodeAt(name, path).node.default, value);
}

export function hasEnum(name: SchemaName, path: string, values: readonly unknown[]): void {
  const { node } = nodeAt(name, path);
  assert.deepEqual(node.enum ?? node.anyOf?.[0]?.enum, values);
}

/** Exactly these fields, with `?` at the end of the optional ones. */
export function hasFields(name: SchemaName, fields: readonly string[], path = ""): void {
  const node = path === "" ? (jsonSchemaOf(name) as Node) : nodeAt(name, path).node;
  const known = Object.keys(node.properties ?? {}).map((key) =>
    node.required?.includes(key) ? key : `${key}?`,
  );
  assert.deepEqual([...known].sort(), [...fields].sort());
}

/** Has these fields as in the seed. Any other field is ours and optional, so documents of the seed stay valid. */
export function extendsFields(name: SchemaName, fields: readonly string[]): void {
  for (const field of fields) {
    hasField(name, field.replace(/\?$/, ""), field.endsWith("?") ? "optional" : "required");
  }
  const { properties = {}, required = [] } = jsonSchemaOf(name) as Node;
  const seeds = fields.map((field) => field.replace(/\?$/, ""));
  const ours = Object.keys(properties).filter((key) => !seeds.includes(key));
  assert.deepEqual(
    ours.filter((key) => required.includes(key)),
    [],
  );
}

/** Has at least these fields. */
export function knowsFields(name: SchemaName, fields: readonly string[]): void {
  for (const field of fields) nodeAt(name, field);
}

/** The emitted schema accepts the same documents as the seed's own schema: equal keywords, except for descriptions. */
export function isSeedSchema(name: SchemaName, seedFile: string): void {
  const strip = (schema: unknown): unknown => {
    if (Array.isArray(schema)) return schema.map(strip);
    if (typeof schema !== "object" || schema === null) return schema;
    return Object.fromEntries(
      Object.entries(schema)
        .filter(
          ([key, value]) =>
            !["$schema", "title", "$comment"].includes(key) &&
            !(key === "description" && typeof value === "string"),
        )
        .map(([key, value]) => [key, key === "required" ? [...(value as string[])].sort() : strip(value)]),
    );
  };
  assert.deepEqual(strip(jsonSchemaOf(name)), strip(seedJson(seedFile)));
}
