/**
 * The checks of shapes that a process keeps. The first uses of a contract walk its schema; it is compiled when it is used often, and
 * to find the errors of a value that does not fit.
 */
import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import { registry, type SchemaName } from "../registry/registry.ts";
import { formOf, withoutDefaults, type Reader } from "./reader-form.ts";
import { fits, isWalkable } from "./walked-check.ts";

/** A validator that fills in defaults writes into its value, so it needs a copy. One that only looks needs none. */
type Mode = "fill" | "look";

/** A compiled check pays after about a thousand uses. Compiling it takes 20 to 400 ms once, in the middle of the work. */
const WALKS = 256;

interface Check {
  /** With its defaults, and as a value without them has to be. */
  readonly schema: object;
  readonly bare: object;
  /** How many more uses walk the schema. */
  walks: number;
  program: ValidateFunction | null;
}

/** By name; no text is put together for a lookup. */
type Checks = Map<SchemaName, Check>;
const checks: { readonly [M in Mode]: { readonly [R in Reader]: Checks } } = {
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

function checkOf(name: SchemaName, reader: Reader, mode: Mode): Check {
  const known = checks[mode][reader].get(name);
  if (known) return known;
  // Typed as a plain object: comparing the union of all contracts with Ajv's schema type keeps tsc busy for seconds.
  const schema: object = formOf(registry[name].schema, reader);
  const bare = withoutDefaults(schema);
  const fresh = { schema, bare, walks: isWalkable(schema) ? WALKS : 0, program: null };
  checks[mode][reader].set(name, fresh);
  return fresh;
}

/** Checks a value whose defaults are not filled in. Null: it fits. */
export function errorsOfShape(name: SchemaName, reader: Reader, value: unknown): ErrorObject[] | null {
  const check = checkOf(name, reader, "look");
  return isWalked(check) && fits(check.bare, value, false) ? null : errorsOf(check, "look", value);
}

/** Fills defaults into a value of the caller's own, and checks it. Null: it fits. */
export function errorsOfFilled(name: SchemaName, reader: Reader, own: unknown): ErrorObject[] | null {
  const check = checkOf(name, reader, "fill");
  // The first walk writes nothing, so that Ajv finds a value that does not fit as it was given.
  const fit = isWalked(check) && fits(check.bare, own, false) && fits(check.schema, own, true);
  return fit ? null : errorsOf(check, "fill", own);
}

function isWalked(check: Check): boolean {
  if (check.program !== null || check.walks === 0) return false;
  check.walks -= 1;
  return true;
}

/** Null: it fits. */
function errorsOf(check: Check, mode: Mode, value: unknown): ErrorObject[] | null {
  check.program ??= ajv(mode).compile(mode === "fill" ? check.schema : check.bare);
  return check.program(value) ? null : (check.program.errors ?? []);
}
