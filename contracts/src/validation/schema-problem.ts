/** Turns the errors of a JSON Schema check into useful problems. For a union, reports those of the intended branch. */
import type { ErrorObject } from "ajv/dist/2020.js";
import { nearest, show, type Problem } from "./problem.ts";

type Params = Record<string, unknown>;

const list = (values: unknown): string =>
  Array.isArray(values) ? values.map((value) => JSON.stringify(value)).join(" | ") : JSON.stringify(values);

/** Paths of ajv are already JSON pointers; a missing or unknown key is appended. */
const under = (path: string, key: unknown): string =>
  `${path}/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`;

function unknownKey(path: string, key: string, known: readonly string[], meant: string | null): Problem {
  return {
    path: under(path, key),
    message: `unknown key \`${key.slice(0, 64)}\``,
    expected: known.length > 0 ? `one of: ${known.join(", ")}` : "no key",
    found: `\`${key.slice(0, 64)}\``,
    ...(meant === null ? {} : { hint: `did you mean \`${meant}\`?` }),
  };
}

function one(error: ErrorObject): Problem {
  const params = error.params as Params;
  const path = error.instancePath;
  const found = show(error.data);
  const parent = error.parentSchema as { description?: string; properties?: object } | undefined;
  switch (error.keyword) {
    case "additionalProperties": {
      const key = String(params.additionalProperty);
      const known = Object.keys(parent?.properties ?? {});
      return unknownKey(path, key, known, nearest(key, known));
    }
    case "required": {
      const key = String(params.missingProperty);
      const known = Object.keys(parent?.properties ?? {});
      const strangers = Object.keys(error.data as object).filter((name) => !known.includes(name));
      const meant = nearest(key, strangers);
      if (meant !== null) return unknownKey(path, meant, known, key);
      return { path: under(path, key), message: `\`${key}\` is missing`, expected: `\`${key}\``, found };
    }
    case "enum": {
      const allowed = Array.isArray(params.allowedValues) ? params.allowedValues : [];
      const meant = typeof error.data === "string" ? nearest(error.data, allowed.map(String)) : null;
      return {
        path,
        message: `must be one of ${list(allowed)}`,
        expected: list(allowed),
        found,
        ...(meant === null ? {} : { hint: `did you mean \`${meant}\`?` }),
      };
    }
    case "const":
      return {
        path,
        message: `must be ${list(params.allowedValue)}`,
        expected: list(params.allowedValue),
        found,
      };
    case "type":
      return { path, message: `must be ${String(params.type)}`, expected: String(params.type), found };
    case "minLength":
      if (error.data !== "") return asSaid(error, found);
      return { path, message: "must not be empty", expected: "a text that is not empty", found };
    case "minItems": {
      const least = Number(params.limit);
      const message = least === 1 ? "must not be empty" : `must have at least ${least} entries`;
      return { path, message, expected: `a list of ${least} or more`, found };
    }
    default:
      return asSaid(error, found);
  }
}

function asSaid({ instancePath: path, message, keyword }: ErrorObject, found: string): Problem {
  const said = message ?? keyword;
  return { path, message: said, expected: said, found };
}

/**
 * Reduces the errors to one problem. A union reports errors for every branch; only those of the intended branch are
 * useful, which is the one whose constants (`kind`, `command`, `ok`) fit.
 */
export function describe(errors: readonly ErrorObject[]): Problem[] {
  const union = outermostUnion(errors);
  if (union === undefined) {
    const [first] = errors;
    return first === undefined ? [] : [one(first)];
  }
  const branches = union.schema as Branch[];
  const of = (branch: number): ErrorObject[] =>
    errors.filter(
      (error) => error !== union && error.schemaPath.startsWith(`${union.schemaPath}/${branch}/`),
    );
  const fitting = branches.flatMap((branch, i) => (fits(branch, union.data) ? [i] : []));
  if (fitting.length === 0) return [noBranch(union, branches)];
  const told = fitting.map(of).filter((group) => group.length > 0);
  const depth = (group: readonly ErrorObject[]): number =>
    Math.max(...group.map((error) => error.instancePath.length));
  const [deepest] = told.sort((a, b) => depth(b) - depth(a));
  return deepest === undefined ? [one(union)] : describe(deepest);
}

type Branch = {
  type?: string;
  enum?: unknown[];
  const?: unknown;
  required?: string[];
  properties?: Record<string, { const?: unknown }>;
};

function outermostUnion(errors: readonly ErrorObject[]): ErrorObject | undefined {
  return errors
    .filter((error) => error.keyword === "anyOf")
    .sort((a, b) => a.schemaPath.length - b.schemaPath.length)[0];
}

/** Whether a value seems to be meant for this branch. */
function fits(branch: Branch, data: unknown): boolean {
  if (branch.type === "null") return data === null;
  if (branch.type === "string") return typeof data === "string";
  if (branch.type === "array") return Array.isArray(data);
  if (branch.type !== "object") return true;
  if (typeof data !== "object" || data === null || Array.isArray(data)) return false;
  const given = data as Record<string, unknown>;
  const constants = Object.entries(branch.properties ?? {}).filter(
    ([, property]) => property.const !== undefined,
  );
  if (constants.length > 0) return constants.every(([key, property]) => given[key] === property.const);
  return (branch.required ?? []).some((key) => Object.hasOwn(given, key));
}

/** No branch fits: either the constant that distinguishes them is wrong, or the value is of another type. */
function noBranch(union: ErrorObject, branches: readonly Branch[]): Problem {
  const data = union.data as Record<string, unknown>;
  const isObject = typeof data === "object" && data !== null && !Array.isArray(data);
  const tag = isObject ? tagOf(branches) : null;
  if (tag === null) {
    const kinds = branches
      .map((branch) => branch.type ?? "value")
      .filter((kind, i, all) => all.indexOf(kind) === i);
    const expected = kinds.join(" | ");
    return { path: union.instancePath, message: `must be ${expected}`, expected, found: show(union.data) };
  }
  const allowed = branches.flatMap((branch) => branch.properties?.[tag]?.const ?? []);
  const expected = list(allowed);
  const path = under(union.instancePath, tag);
  if (!Object.hasOwn(data, tag)) {
    return { path, message: `\`${tag}\` is missing`, expected, found: show(data) };
  }
  const value = data[tag];
  const meant = typeof value === "string" ? nearest(value, allowed.map(String)) : null;
  return {
    path,
    message: `must be one of ${expected}`,
    expected,
    found: show(value),
    ...(meant === null ? {} : { hint: `did you mean \`${meant}\`?` }),
  };
}

/** The key whose constants distinguish the branches. */
function tagOf(branches: readonly Branch[]): string | null {
  const objects = branches.filter((branch) => branch.type === "object");
  const [first] = objects;
  const keys = Object.keys(first?.properties ?? {});
  return keys.find((key) => objects.every((branch) => branch.properties?.[key]?.const !== undefined)) ?? null;
}
