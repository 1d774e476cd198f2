/** The forms of one schema that the readers of a contract check. */
export type Reader = "strict" | "tolerant";

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
export function withoutDefaults<T>(schema: T): T {
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
