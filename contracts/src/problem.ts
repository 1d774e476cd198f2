/** Says in words what is wrong with a value: where, what was expected, what was found, what was probably meant. */
import type { ErrorObject } from "ajv/dist/2020.js";

export type Problem = {
  /** JSON pointer; empty for the document itself. */
  path: string;
  message: string;
  expected: string;
  found: string;
  /** What was probably meant. */
  hint?: string;
  /** Id of the rule that does not hold, when it is not the shape. */
  rule?: string;
};

/** A value as it is quoted in an error: short, one line. */
export function show(value: unknown): string {
  if (value === undefined) return "nothing";
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === "object" && value !== null) {
    const keys = Object.keys(value);
    return keys.length === 0
      ? "an empty object"
      : `an object with ${keys.slice(0, 6).join(", ")}${keys.length > 6 ? ", ..." : ""}`;
  }
  const text = JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}

/** Edits between two words, transposition counted as one. Long words are not compared. */
export function distance(a: string, b: string): number {
  if (a.length > 64 || b.length > 64) return 64;
  let before: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const current = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      let best = Math.min((previous[j] ?? 0) + 1, (current[j - 1] ?? 0) + 1, (previous[j - 1] ?? 0) + same);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        best = Math.min(best, (before[j - 2] ?? 0) + 1);
      }
      current.push(best);
    }
    before = previous;
    previous = current;
  }
  return previous[b.length] ?? 64;
}

/** The candidate that was probably meant, or null when none is near. */
export function nearest(word: string, candidates: readonly string[]): string | null {
  const plain = (text: string): string => text.toLowerCase().replaceAll(/[-_\s]/g, "");
  let best: { candidate: string; edits: number } | null = null;
  for (const candidate of candidates) {
    const edits =
      plain(word) === plain(candidate) ? 0 : distance(word.toLowerCase(), candidate.toLowerCase());
    if (edits <= Math.max(1, Math.floor(candidate.length / 3)) && (best === null || edits < best.edits)) {
      best = { candidate, edits };
    }
  }
  return best?.candidate ?? null;
}

type Params = Record<string, unknown>;

const list = (values: unknown): string =>
  Array.isArray(values) ? values.map((value) => JSON.stringify(value)).join(" | ") : JSON.stringify(values);

/** Paths of ajv are JSON pointers already; a missing or unknown key is put at the end. */
const under = (path: string, key: unknown): string =>
  `${path}/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`;

function one(error: ErrorObject): Problem {
  const params = error.params as Params;
  const path = error.instancePath;
  const found = show(error.data);
  const parent = error.parentSchema as { description?: string; properties?: object } | undefined;
  switch (error.keyword) {
    case "additionalProperties": {
      const key = String(params.additionalProperty);
      const known = Object.keys(parent?.properties ?? {});
      const meant = nearest(key, known);
      return {
        path: under(path, key),
        message: `unknown key \`${key.slice(0, 64)}\``,
        expected: known.length > 0 ? `one of: ${known.join(", ")}` : "no key",
        found: `\`${key.slice(0, 64)}\``,
        ...(meant === null ? {} : { hint: `did you mean \`${meant}\`?` }),
      };
    }
    case "required": {
      const key = String(params.missingProperty);
      const known = Object.keys(parent?.properties ?? {});
      const strangers = Object.keys(error.data as object).filter((name) => !known.includes(name));
      const meant = nearest(key, strangers);
      return {
        path: under(path, key),
        message: `\`${key}\` is missing`,
        expected: `\`${key}\``,
        found,
        ...(meant === null ? {} : { hint: `is \`${meant.slice(0, 64)}\` a misspelt \`${key}\`?` }),
      };
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
    default:
      return {
        path,
        message: error.message ?? error.keyword,
        expected: error.message ?? error.keyword,
        found,
      };
  }
}

const depthOf = (error: ErrorObject): number => error.instancePath.split("/").length;

/**
 * The problems of one check, the most telling first. A union reports one error per branch: the branches whose
 * `kind` (or other constant) does not fit say nothing, the deepest error of the others says most.
 */
export function describe(errors: readonly ErrorObject[]): Problem[] {
  const concrete = errors.filter((error) => error.keyword !== "anyOf" && error.keyword !== "oneOf");
  const telling = concrete.filter((error) => error.keyword !== "const" && !isNullBranch(error));
  const pool = telling.length > 0 ? telling : concrete.length > 0 ? concrete : [...errors];
  const sorted = [...pool].sort((a, b) => depthOf(b) - depthOf(a));
  const [first] = sorted;
  return first === undefined ? [] : [one(first)];
}

/** `T | null` fails twice for a wrong T; "must be null" is the branch nobody meant. */
function isNullBranch(error: ErrorObject): boolean {
  return error.keyword === "type" && (error.params as Params).type === "null";
}
