import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { goldenOf } from "../../conformance/proof.ts";
import { registry, SCHEMA_NAMES } from "../registry/registry.ts";
import { formOf, withoutDefaults } from "./reader-form.ts";
import { fits, isWalkable } from "./walked-check.ts";

type Members = Record<string, unknown>;

const ajv = new Ajv2020({ strict: true, strictTypes: false, useDefaults: true, code: { optimize: false } });

/** What takes the place of each value of a fixture in turn. */
const OTHERS: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  0.5,
  2 ** 53,
  "",
  "\u{1f600}",
  "a\nb",
  "x".repeat(70_000),
  [],
  ["", ""],
  {},
  { stranger: 1 },
];

/** The document with one value replaced or missing, or with one key more, at each of its places. */
function* changedOf(document: unknown): Generator<unknown> {
  yield* OTHERS;
  if (typeof document !== "object" || document === null) return;
  if (Array.isArray(document)) {
    const all: readonly unknown[] = document;
    yield [...all, ...all];
    const [first, ...rest] = all;
    if (first !== undefined) for (const one of changedOf(first)) yield [one, ...rest];
    return;
  }
  yield { ...document, stranger: 1 };
  for (const [key, value] of Object.entries(document)) {
    const { [key]: _, ...others } = document as Members;
    yield others;
    for (const one of changedOf(value)) yield { ...document, [key]: one };
  }
}

/** Each contract is compared in one form, in turn: with defaults, or without them for another service. */
const FORMS = [
  { fill: true, of: (schema: object) => formOf(schema, "strict") },
  { fill: false, of: (schema: object) => withoutDefaults(formOf(schema, "tolerant")) },
] as const;

describe.each(SCHEMA_NAMES.map((name, i) => ({ name, form: FORMS[i % 2 === 0 ? 0 : 1] })))(
  "$name",
  ({ name, form: { fill, of } }) => {
    test("is checked by a walk as Ajv checks it, at each place of a fixture", () => {
      const schema = of(registry[name].schema);
      if (!isWalkable(schema)) throw new Error(`the walk does not know a keyword of ${name}`);
      const program = ajv.compile(schema);
      const { valid, invalid } = goldenOf(registry[name].id);
      const [first, ...others] = Object.values(valid);
      const refused = Object.values(invalid).map(({ document }) => document);
      for (const document of [first, ...changedOf(first), ...others, ...refused]) {
        const [walked, compiled] = fill
          ? [structuredClone(document), structuredClone(document)]
          : [document, document];
        const says = program(compiled);
        if (fits(schema, walked, fill) !== says) expect(document, `Ajv says ${says}`).toBeNull();
        if (says && fill) expect(walked).toEqual(compiled);
      }
    });
  },
);

test.each<[object]>([
  [{ oneOf: [] }],
  [{ items: { format: "uri" } }],
  [{ additionalProperties: { type: "string" } }],
  [{ const: {} }],
  [{ uniqueItems: true }],
  [{ type: ["string", "null"] }],
])("a schema with what the walk does not know, %j, is left to Ajv", (schema) => {
  expect(isWalkable(schema)).toBe(false);
});
