// A contract in words: fields, types, defaults, bounds. Pure.
import { ERROR_CODES, ERRORS, isErrorCode } from "@antiphon/contracts/errors";
import { nearest } from "@antiphon/contracts/problem";
import { registry, schemaNameOf, SCHEMA_NAMES } from "@antiphon/contracts/registry";
import { Failure } from "./failure.ts";
import { table } from "./table.ts";

export interface Explanation {
  readonly lines: string[];
  readonly json: unknown;
}

interface Schema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly properties?: Record<string, Schema>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly [bound: string]: unknown;
}

export function explain(name: string | null): Explanation {
  if (name === null) return listing();
  if (isErrorCode(name)) return errorCode(name);
  const found =
    schemaNameOf(name) ?? SCHEMA_NAMES.find((known) => known.toLowerCase() === name.toLowerCase()) ?? null;
  if (found === null) throw unknown(name);
  const { id, source, schema } = registry[found];
  const document = schema as Schema;
  const head = `${id}  (${source === "antiphon" ? "Antiphon's own" : `seed ${source}`})`;
  const about = document.description === undefined ? [] : [document.description];
  return { lines: [head, ...about, "", ...table(rows(document, 0))], json: { $id: id, ...schema } };
}

function listing(): Explanation {
  const schemas = SCHEMA_NAMES.map((name) => [
    registry[name].id,
    (registry[name].schema as Schema).description ?? "",
  ]);
  const errors = ERROR_CODES.map((code) => [code, ERRORS[code].meaning]);
  const lines = [
    "Contracts:",
    ...table(schemas).map((row) => `  ${row}`),
    "",
    "Error codes:",
    ...table(errors).map((row) => `  ${row}`),
  ];
  return { lines, json: { schemas: schemas.map(([id]) => id), errors: ERROR_CODES } };
}

function errorCode(code: keyof typeof ERRORS): Explanation {
  const entry = ERRORS[code];
  const lines = [
    `${code}: ${entry.meaning}`,
    `remedy: ${entry.remedy}`,
    `disposition ${entry.disposition}, HTTP ${entry.httpStatus}, exit code ${entry.exitCode}`,
  ];
  return { lines, json: entry };
}

function unknown(name: string): Failure {
  const meant = nearest(name, [...SCHEMA_NAMES, ...ERROR_CODES]);
  const near = meant === null ? "`antiphon explain` lists them" : `did you mean ${meant}?`;
  return new Failure("ANT_CONTRACT_UNKNOWN", `there is no contract or code ${JSON.stringify(name)}`, {
    remedy: near,
  });
}

function rows(schema: Schema, depth: number): string[][] {
  const indent = "  ".repeat(depth);
  const variants = schema.anyOf?.filter((variant) => variant.type !== "null") ?? [];
  if (variants.length > 1 && variants.some((variant) => variant.properties !== undefined)) {
    return variants.flatMap((variant, i) => [
      [`${indent}${i === 0 ? "either" : "or"}`, "", variant.description ?? ""],
      ...rows(variant, depth + 1),
    ]);
  }
  const inner = variants.length === 1 ? (variants[0] ?? schema) : schema;
  const object = inner.items ?? inner;
  if (object !== inner && object.properties === undefined && object.anyOf === undefined) return [];
  if (object.anyOf !== undefined && object.properties === undefined && object !== schema)
    return rows(object, depth);
  return Object.entries(object.properties ?? {}).flatMap(([key, field]) => {
    const need = object.required?.includes(key) === true ? "" : "?";
    const own = [
      `${indent}${key}${need}`,
      typeOf(field),
      [field.description ?? "", bounds(field)].filter((part) => part !== "").join(" "),
    ];
    return depth >= 3 ? [own] : [own, ...rows(field, depth + 1)];
  });
}

function typeOf(schema: Schema): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((value) => String(value)).join(" | ");
  if (schema.anyOf !== undefined) return [...new Set(schema.anyOf.map(typeOf))].join(" | ");
  if (schema.type === "array") return `list of ${typeOf(schema.items ?? {})}`;
  if (Array.isArray(schema.type)) return schema.type.join(" | ");
  return typeof schema.type === "string" ? schema.type : "any";
}

const BOUNDS = ["default", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "pattern"];

function bounds(schema: Schema): string {
  const said = BOUNDS.filter((bound) => schema[bound] !== undefined).map(
    (bound) => `${bound} ${JSON.stringify(schema[bound])}`,
  );
  return said.length === 0 ? "" : `(${said.join(", ")})`;
}
