/**
 * Checks whether a value has the shape of its contract. Two readers share one schema: `strict` (the HTTP edge, sandbox
 * output, files of people) refuses unknown keys; `tolerant` (between services) ignores them, so that a newer writer can
 * talk to an older reader.
 *
 * Nothing is compiled at import; each validator is compiled at its first use. The given value is never written to:
 * defaults go into the returned copy. A refusal names the place, the expected and the found value, and for an unknown key
 * the key that was probably meant.
 */
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { bounded, type Problem } from "./problem.ts";
import { AntiphonError } from "../errors.ts";
import { intake, isFit } from "./intake.ts";
import { registry, schemaNameOf, type ContractType, type SchemaName } from "../registry/registry.ts";
import type { Rule } from "../shapes/rule.ts";
import { describe } from "./schema-problem.ts";

export type { Problem } from "./problem.ts";

export type Reader = "strict" | "tolerant";

export type Validation<T> = { ok: true; value: T } | { ok: false; errors: Problem[] };

/** A validator that fills in defaults writes into its value, so it needs a copy. One that only looks needs none. */
type Mode = "fill" | "look";

/** By name; no text is put together for a lookup. */
type Compiled = Map<SchemaName, ValidateFunction>;
const compiled: { readonly [M in Mode]: { readonly [R in Reader]: Compiled } } = {
  fill: { strict: new Map(), tolerant: new Map() },
  look: { strict: new Map(), tolerant: new Map() },
};
const engines: Partial<Record<Mode, Ajv2020>> = {};

function ajv(mode: Mode): Ajv2020 {
  engines[mode] ??= new Ajv2020({
    strict: true,
    strictTypes: false, // `enum` without `type` is the seeds' form
    useDefaults: mode === "fill",
    allErrors: false, // the first problem is enough, and time stays bounded
    verbose: true,
    code: { optimize: false }, // compiles twice as fast, checks as fast
    addUsedSchema: false,
  });
  return engines[mode];
}

/**
 * The form of a schema that a reader compiles. `tolerant` opens every closed object. Defaults below a union are left out,
 * because it is unknown to which branch they would belong.
 */
export function formOf<T>(schema: T, reader: Reader, inUnion = false): T {
  if (Array.isArray(schema)) return schema.map((item: unknown) => formOf(item, reader, inUnion)) as T;
  if (typeof schema !== "object" || schema === null) return schema;
  const out: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(schema)) {
    if (key === "additionalProperties" && value === false && reader === "tolerant") continue;
    if (key === "default" && inUnion) continue;
    if (key === "properties") out[key] = mapValues(value as object, (item) => formOf(item, reader, inUnion));
    else if (key === "default" || key === "enum" || key === "const") out[key] = value;
    else out[key] = formOf<unknown>(value, reader, inUnion || key === "anyOf");
  }
  return out as T;
}

/** The same schema for a value whose defaults are not filled in: what has a default may be absent. */
function withoutDefaults<T>(schema: T): T {
  if (Array.isArray(schema)) return schema.map((item: unknown) => withoutDefaults(item)) as T;
  if (typeof schema !== "object" || schema === null) return schema;
  const { properties = {}, required } = schema as { properties?: Record<string, object>; required?: unknown };
  const out: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(schema)) {
    if (key === "properties") out[key] = mapValues(value as object, withoutDefaults);
    else if (key === "required" && Array.isArray(required)) {
      out[key] = required.filter((name: string) => !("default" in (properties[name] ?? {})));
    } else if (key !== "default")
      out[key] = key === "enum" || key === "const" ? value : withoutDefaults(value);
  }
  return out as T;
}

const mapValues = (object: object, change: (value: unknown) => unknown): Record<string, unknown> =>
  Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)]));

function validatorOf(name: SchemaName, reader: Reader, mode: Mode): ValidateFunction {
  const known = compiled[mode][reader].get(name);
  if (known) return known;
  // Typed as a plain object: comparing the union of all contracts with Ajv's schema type keeps tsc busy for seconds.
  const schema: object = registry[name].schema;
  const form = formOf(schema, reader);
  const fresh = ajv(mode).compile(mode === "fill" ? form : withoutDefaults(form));
  compiled[mode][reader].set(name, fresh);
  return fresh;
}

/** Checks a value against a contract. Never throws on bad input; throws ANT_CONTRACT_UNKNOWN on a bad name. */
export function validate<N extends SchemaName>(
  name: N,
  value: unknown,
  options: { reader?: Reader } = {},
): Validation<ContractType<N>> {
  const known = schemaNameOf(name);
  if (known === null)
    throw new AntiphonError("ANT_CONTRACT_UNKNOWN", `no contract is called ${String(name)}`);
  const taken = intake(value);
  if (!taken.ok) return refused([taken.unfit]);
  const { rules } = registry[known];
  const raw = broken(rules, taken.value, true);
  if (raw !== null) return refused([raw]);
  const check = validatorOf(known, options.reader ?? "strict", "fill");
  if (!check(taken.value)) return refused(describe(check.errors ?? []));
  const problem = broken(rules, taken.value, false);
  if (problem !== null) return refused([problem]);
  const fit = taken.value as ContractType<N>;
  return { ok: true, value: fit };
}

/**
 * Like `validate`, without the rules between fields. For stored documents whose writer was not held to the rules: a Router
 * must see a cycle to refuse it, and still needs a reliable shape.
 */
export function validateShape(
  name: SchemaName,
  value: unknown,
  reader: Reader,
): { ok: true } | { ok: false; errors: Problem[] } {
  if (!isFit(value)) {
    const taken = intake(value);
    if (!taken.ok) return refused([taken.unfit]);
  }
  const check = validatorOf(name, reader, "look");
  return check(value) ? { ok: true } : refused(describe(check.errors ?? []));
}

const refused = (problems: readonly Problem[]): { ok: false; errors: Problem[] } => ({
  ok: false,
  errors: problems.map(bounded),
});

/** The first violated rule. `raw` rules run before the shape is known to fit. */
function broken(rules: readonly Rule[], value: unknown, raw: boolean): Problem | null {
  for (const rule of rules) {
    if ((rule.raw === true) !== raw) continue;
    const problem = rule.check(value);
    if (problem !== null) return { ...problem, rule: rule.id };
  }
  return null;
}

/** Like `validate`, but throws a refusal as `code` with the first problem as text. */
export function assertValid<N extends SchemaName>(
  name: N,
  value: unknown,
  options: { reader?: Reader; code?: "ANT_CONTRACT_INVALID" | "ANT_INTENT_INVALID" } = {},
): ContractType<N> {
  const result = validate(name, value, options);
  if (result.ok) return result.value;
  const [first] = result.errors;
  const where = first?.path === undefined || first.path === "" ? "the document" : first.path;
  throw new AntiphonError(
    options.code ?? "ANT_CONTRACT_INVALID",
    `${name}: ${where}: ${first?.message ?? "invalid"}${first?.hint === undefined ? "" : ` (${first.hint})`}`,
    { data: { schema: registry[name].id, errors: result.errors } },
  );
}
