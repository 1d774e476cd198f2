/**
 * The building blocks of contracts. All of them return plain JSON Schema 2020-12 (TypeBox objects carry nothing else), so
 * a schema can be written to a file unchanged.
 */
import { Type } from "typebox";
import type {
  TEnum,
  TNull,
  TObject,
  TObjectOptions,
  TProperties,
  TSchema,
  TSchemaOptions,
  TUnion,
} from "typebox";

/** An object without unknown keys. Strict at the edge; the tolerant reader opens it. */
export function closed<P extends TProperties>(properties: P, options: TObjectOptions = {}): TObject<P> {
  return Type.Object(properties, { additionalProperties: false, ...options });
}

/** One of a fixed list of strings. */
export function oneOf<const V extends string[]>(
  values: readonly [...V],
  options: TSchemaOptions = {},
): TEnum<V> {
  return Type.Enum<V>(values, options);
}

/** A value that is always present and may be `null`. */
export function nullable<T extends TSchema>(schema: T, options: TSchemaOptions = {}): TUnion<[T, TNull]> {
  return Type.Union([schema, Type.Null()], options);
}

/** Makes the named optional keys of `T` present: the form after defaults are filled in. */
export type Filled<T, K extends keyof T> = Omit<T, K> & { [P in K]-?: Exclude<T[P], undefined> };

/** Any JSON object with unknown keys. Its values are typed as unknown, so a reader must check them. */
export function anyObject(options: TSchemaOptions = {}) {
  return Type.Unsafe<Record<string, unknown>>({ type: "object", ...options });
}

/** The same object with a default for a missing one. */
export function withDefault<P extends TProperties>(schema: TObject<P>, value: object): TObject<P> {
  const { type: _type, properties, required: _required, ...options } = schema;
  return Type.Object(properties, { ...options, default: value });
}
