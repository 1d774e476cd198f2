/** Checks a YAML or JSON file against its contract. Errors carry the line. Never throws on a faulty text. */
import { kindByName, kindOf } from "./document-kind.ts";
import { readDocument, Refusal, START, type Place } from "./document-text.ts";
import { AntiphonError } from "../errors.ts";
import { findContract } from "../reference/explain.ts";
import type { Problem } from "../validation/problem.ts";
import { registry, type SchemaName } from "../registry/registry.ts";
import { validate } from "../validation/validate.ts";

export type DocumentProblem = Problem & Place;

export type DocumentCheck =
  | { ok: true; schema: string; value: unknown }
  | { ok: false; schema: string | null; errors: DocumentProblem[] };

/** The value of a text, read like in `validateDocument`; null if it cannot be read. */
export function documentValue(text: string, filename: string): unknown {
  try {
    return readDocument(text, filename).value;
  } catch (error) {
    if (error instanceof Refusal) return null;
    throw error;
  }
}

/** Checks text against `schema`, or against the contract that its name, schema comment or keys identify. */
export function validateDocument(
  text: string,
  options: { filename: string; schema?: string },
): DocumentCheck {
  let schema: SchemaName | null = null;
  try {
    if (options.schema !== undefined) schema = findContract(options.schema);
    const { value, placeOf } = readDocument(text, options.filename);
    schema ??= kindOf(text, options.filename, value);
    const result = validate(schema, value ?? emptyOf(schema));
    if (result.ok) return { ok: true, schema: registry[schema].id, value: result.value };
    const errors = result.errors.map((problem) => ({ ...problem, ...placeOf(problem.path) }));
    return { ok: false, schema: registry[schema].id, errors };
  } catch (error) {
    const known = schema ?? (options.schema === undefined ? kindByName(options.filename) : null);
    const id = known === null ? null : registry[known].id;
    if (error instanceof Refusal) return { ok: false, schema: id, errors: [error.problem] };
    if (error instanceof AntiphonError) {
      const expected = "the name of a contract";
      return {
        ok: false,
        schema: id,
        errors: [{ path: "", message: error.detail, expected, found: options.schema ?? "nothing", ...START }],
      };
    }
    throw error;
  }
}

/** Settings of which every line is a comment, as `antiphon init` writes them where no check passes, are settings that say nothing. */
function emptyOf(schema: SchemaName): unknown {
  return schema === "ProjectFile" ? {} : null;
}
