/**
 * Checks a value by walking its schema, for the keywords that contracts use. Ajv makes a program of a schema first, which
 * takes 20 to 400 ms of the processor; most processes meet most contracts a few times only. Where both answer, they agree:
 * `walked-check.test.ts` compares them over every contract.
 */
export interface WalkedSchema {
  readonly type?: string;
  readonly enum?: readonly Scalar[];
  readonly const?: Scalar;
  readonly anyOf?: readonly WalkedSchema[];
  readonly properties?: Readonly<Record<string, WalkedSchema>>;
  readonly patternProperties?: Readonly<Record<string, WalkedSchema>>;
  readonly additionalProperties?: boolean;
  readonly required?: readonly string[];
  readonly maxProperties?: number;
  readonly items?: WalkedSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly default?: unknown;
}

type Scalar = string | number | boolean | null;
type Members = Record<string, unknown>;

const isScalar = (value: unknown): boolean => typeof value !== "object" || value === null;
const isList = (value: unknown, of: (item: unknown) => boolean): boolean =>
  Array.isArray(value) && value.every(of);
const ofMembers = (value: unknown): boolean => Object.values(value as object).every(isWalkable);
const always = (): boolean => true;

/** For each keyword that `fits` knows, whether it knows this use of it. */
const KNOWN: Readonly<Record<string, (value: unknown) => boolean>> = {
  items: isWalkable,
  anyOf: (value) => isList(value, isWalkable),
  properties: ofMembers,
  patternProperties: ofMembers,
  additionalProperties: (value) => typeof value === "boolean",
  type: (value) => typeof value === "string",
  enum: (value) => isList(value, isScalar),
  const: isScalar,
  ...Object.fromEntries(
    ["required", "maxProperties", "minItems", "maxItems", "uniqueItems", "minLength", "maxLength"]
      .concat(["pattern", "minimum", "maximum", "exclusiveMinimum", "default", "description"])
      .map((keyword) => [keyword, always]),
  ),
};

/** Whether `fits` knows all that the schema demands. */
export function isWalkable(schema: unknown): schema is WalkedSchema {
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) return false;
  const { uniqueItems, items } = schema as WalkedSchema;
  // Only strings and the values of an enum are compared by `===`.
  if (uniqueItems !== undefined && items?.type !== "string" && items?.enum === undefined) return false;
  return Object.entries(schema).every(
    ([keyword, value]) => Object.hasOwn(KNOWN, keyword) && KNOWN[keyword]?.(value) === true,
  );
}

/** Whether the value fits. `fill` writes defaults into it, as Ajv's `useDefaults` does, also if it does not fit. */
export function fits(schema: WalkedSchema, value: unknown, fill: boolean): boolean {
  if (schema.type !== undefined && !isOfType(schema.type, value)) return false;
  if (schema.enum !== undefined && !schema.enum.includes(value as Scalar)) return false;
  if (schema.const !== undefined && schema.const !== value) return false;
  if (!fitsKind(schema, value, fill)) return false;
  return schema.anyOf === undefined || schema.anyOf.some((branch) => fits(branch, value, fill));
}

function fitsKind(schema: WalkedSchema, value: unknown, fill: boolean): boolean {
  if (typeof value === "string") return fitsText(schema, value);
  if (typeof value === "number") return fitsNumber(schema, value);
  if (Array.isArray(value)) return fitsList(schema, value, fill);
  return typeof value !== "object" || value === null || fitsObject(schema, value as Members, fill);
}

function isOfType(type: string, value: unknown): boolean {
  if (type === "object") return typeof value === "object" && value !== null && !Array.isArray(value);
  if (type === "array") return Array.isArray(value);
  if (type === "null") return value === null;
  if (type === "integer") return Number.isInteger(value);
  return type === "number" ? Number.isFinite(value) : typeof value === type;
}

const patterns = new Map<string, RegExp>();

function patternOf(source: string): RegExp {
  const known = patterns.get(source) ?? new RegExp(source, "u");
  patterns.set(source, known);
  return known;
}

function fitsText({ minLength = 0, maxLength = Infinity, pattern }: WalkedSchema, value: string): boolean {
  if (value.length < 2 * minLength || value.length > maxLength) {
    const length = lengthOf(value);
    if (length < minLength || length > maxLength) return false;
  }
  return pattern === undefined || patternOf(pattern).test(value);
}

/** In code points, of which each takes one unit or two. */
function lengthOf(text: string): number {
  let length = 0;
  for (const _ of text) length += 1;
  return length;
}

function fitsNumber({ minimum, maximum, exclusiveMinimum }: WalkedSchema, value: number): boolean {
  if (minimum !== undefined && !(value >= minimum)) return false;
  if (maximum !== undefined && !(value <= maximum)) return false;
  return exclusiveMinimum === undefined || value > exclusiveMinimum;
}

function fitsList(schema: WalkedSchema, value: readonly unknown[], fill: boolean): boolean {
  const { items, minItems = 0, maxItems = Infinity, uniqueItems } = schema;
  if (value.length < minItems || value.length > maxItems) return false;
  if (uniqueItems === true && new Set(value).size < value.length) return false;
  return items === undefined || value.every((one) => fits(items, one, fill));
}

function fitsObject(schema: WalkedSchema, value: Members, fill: boolean): boolean {
  const { properties = {}, patternProperties = {}, required = [], maxProperties = Infinity } = schema;
  if (fill)
    for (const [key, { default: usual }] of Object.entries(properties))
      if (usual !== undefined && value[key] === undefined) value[key] = structuredClone(usual);
  const keys = Object.keys(value);
  if (keys.length > maxProperties || required.some((key) => value[key] === undefined)) return false;
  const matching = Object.keys(patternProperties);
  for (const key of keys) {
    const own = Object.hasOwn(properties, key) ? properties[key] : undefined;
    if (own !== undefined && value[key] !== undefined && !fits(own, value[key], fill)) return false;
    const by = matching.filter((pattern) => patternOf(pattern).test(key));
    if (own === undefined && by.length === 0 && schema.additionalProperties === false) return false;
    if (!by.every((pattern) => fits(patternProperties[pattern] ?? {}, value[key], fill))) return false;
  }
  return true;
}
