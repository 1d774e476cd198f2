/**
 * A file somebody wrote, YAML or JSON, checked against its contract. Errors carry the line.
 *
 * Invariants:
 *  Q1 Bounded: size before parsing, nesting before recursion; aliases, merge keys, tags and a second document are
 *     refused, so nothing can expand.
 *  Q2 A key that is there twice is refused, in JSON too.
 *  Q3 Never throws on bad text.
 */
import {
  isAlias,
  isMap,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  visit,
  type Document,
} from "yaml";
import { AntiphonError } from "./errors.ts";
import { findContract } from "./explain.ts";
import { limits } from "./limits.ts";
import type { Problem } from "./problem.ts";
import { registry, SCHEMA_NAMES, type SchemaName } from "./registry.ts";
import { validate } from "./validate.ts";

export type DocumentProblem = Problem & { line: number; column: number };

export type DocumentCheck =
  | { ok: true; schema: string; value: unknown }
  | { ok: false; schema: string | null; errors: DocumentProblem[] };

type Place = { line: number; column: number };
const START: Place = { line: 1, column: 1 };

class Refusal extends Error {
  readonly problem: DocumentProblem;
  constructor(place: Place, message: string, expected: string, found: string) {
    super(message);
    this.problem = { path: "", message, expected, found, ...place };
  }
}

/** Checks text against `schema`, or against the contract that its name, its schema comment or its keys point to. */
export function validateDocument(
  text: string,
  options: { filename: string; schema?: string },
): DocumentCheck {
  let schema: SchemaName | null = null;
  try {
    if (options.schema !== undefined) schema = findContract(options.schema);
    const { value, placeOf } = parse(text, options.filename);
    schema ??= guess(text, options.filename, value);
    const result = validate(schema, value);
    if (result.ok) return { ok: true, schema: registry[schema].id, value: result.value };
    const errors = result.errors.map((problem) => ({ ...problem, ...placeOf(problem.path) }));
    return { ok: false, schema: registry[schema].id, errors };
  } catch (error) {
    const id = schema === null ? null : registry[schema].id;
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

type Parsed = { value: unknown; placeOf: (path: string) => Place };

function parse(text: string, filename: string): Parsed {
  const bytes = new TextEncoder().encode(text).length;
  if (bytes > limits.documentBytes) {
    throw new Refusal(
      START,
      "the file is too large",
      `at most ${limits.documentBytes} bytes`,
      `${bytes} bytes`,
    ); // Q1
  }
  if (text.trim() === "") throw new Refusal(START, "the file is empty", "a document", "nothing");
  const isJson = filename.endsWith(".json") || /^\s*[[{]/.test(text);
  if (isJson) refuseDepth(text);
  const lines = new LineCounter();
  const document = readYaml(text, lines);
  const at = (offset: number): Place => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  };
  const [first] = document.errors;
  if (first?.message.includes("call stack") === true) {
    throw new Refusal(at(first.pos[0]), "nested too deeply", `at most ${limits.messageDepth} levels`, "more"); // Q1
  }
  if (first !== undefined)
    throw new Refusal(at(first.pos[0]), firstLine(first.message), isJson ? "JSON" : "YAML", "broken text");
  const [warning] = document.warnings;
  if (warning !== undefined)
    throw new Refusal(at(warning.pos[0]), firstLine(warning.message), "plain values", "a tag");
  refuseExpansion(document, at);
  return { value: document.toJS({ maxAliasCount: 0 }), placeOf: (path) => placeIn(document, path, at) };
}

const firstLine = (message: string): string =>
  message.split("\n")[0]?.replace(/ at line \d+.*$/, "") ?? message;

function readYaml(text: string, lineCounter: LineCounter): Document.Parsed {
  try {
    return parseDocument(text, { lineCounter, merge: false, uniqueKeys: true, strict: true, version: "1.2" }); // Q2
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new Refusal(START, "nested too deeply", `at most ${limits.messageDepth} levels`, "more"); // Q1, Q3
  }
}

/** Q1: brackets are counted before a recursive parser sees them. Strings are skipped. */
function refuseDepth(text: string): void {
  let depth = 0;
  let inString = false;
  for (let i = 0; i < text.length; i++) {
    const char = text[i];
    if (inString) {
      if (char === "\\") i++;
      else if (char === '"') inString = false;
    } else if (char === '"') inString = true;
    else if (char === "{" || char === "[") {
      if (++depth > limits.messageDepth) {
        const before = text.slice(0, i).split("\n");
        const place = { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
        throw new Refusal(place, "nested too deeply", `at most ${limits.messageDepth} levels`, "more");
      }
    } else if (char === "}" || char === "]") depth--;
  }
}

/** Q1: what could make a small file large, or mean something else than it says. */
function refuseExpansion(document: Document.Parsed, at: (offset: number) => Place): void {
  visit(document, (_key, node) => {
    if (isAlias(node)) {
      throw new Refusal(
        at(node.range?.[0] ?? 0),
        "aliases are not allowed",
        "the value itself",
        `*${node.source}`,
      );
    }
    if (isPair(node) && isScalar(node.key) && node.key.value === "<<") {
      throw new Refusal(
        at(node.key.range?.[0] ?? 0),
        "merge keys are not allowed",
        "the keys themselves",
        "<<",
      );
    }
    if (isPair(node) && !isScalar(node.key)) {
      throw new Refusal(START, "a key must be plain text", "a plain key", "a list or map as a key");
    }
  });
}

/** Where a JSON pointer leads: the key when there is one, else the last thing on the way that exists. */
function placeIn(document: Document.Parsed, path: string, at: (offset: number) => Place): Place {
  let node: unknown = document.contents;
  let offset = document.contents?.range[0] ?? 0;
  for (const part of path.split("/").slice(1)) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    if (isMap(node)) {
      const pair = node.items.find((item) => isScalar(item.key) && String(item.key.value) === key);
      if (pair === undefined) break;
      if (isScalar(pair.key)) offset = pair.key.range?.[0] ?? offset;
      node = pair.value;
    } else if (isSeq(node)) {
      const item = node.items[Number(key)] as { range?: [number, number, number] } | undefined;
      if (item === undefined) break;
      offset = item.range?.[0] ?? offset;
      node = item;
    } else break;
  }
  return at(offset);
}

const BY_NAME: readonly [RegExp, SchemaName][] = [
  [/(^|\/)tasks\/T-[^/]+\.ya?ml$/, "TaskContract"],
  [/(^|\/)evidence\/.*manifest\.json$/, "EvidenceManifest"],
  [/(^|\/)io_schema\.json$/, "SkillIoSchema"],
];

/** Which contract a file is meant to have: its schema comment, its name, else its keys. */
function guess(text: string, filename: string, value: unknown): SchemaName {
  const comment = /^#\s*yaml-language-server:\s*\$schema=(\S+)/m.exec(text)?.[1];
  if (comment !== undefined) return findContract(comment.replace(/^.*\//, "").replace(/\.json$/, ""));
  const named = BY_NAME.find(([pattern]) => pattern.test(filename.replaceAll("\\", "/")));
  if (named !== undefined) return named[1];
  const found = byKeys(value);
  if (found !== null) return found;
  const expected = "--schema <name>, or a first line `# yaml-language-server: $schema=.../<id>.json`";
  throw new Refusal(
    START,
    "cannot tell which contract this file is meant to have",
    expected,
    "nothing that tells",
  );
}

/** The contract that knows most of the keys and misses fewest; null when two are equally near. */
function byKeys(value: unknown): SchemaName | null {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
  const keys = Object.keys(value);
  const ranked = SCHEMA_NAMES.flatMap((name) => {
    const { properties, required = [] } = registry[name].schema as {
      properties?: object;
      required?: string[];
    };
    if (properties === undefined) return [];
    const known = keys.filter((key) => Object.hasOwn(properties, key)).length;
    const missing = required.filter((key) => !keys.includes(key)).length;
    return [{ name, score: 2 * known - missing - (keys.length - known), known }];
  }).sort((a, b) => b.score - a.score);
  const [first, second] = ranked;
  if (first === undefined || first.known === 0 || first.score <= 0 || first.score === second?.score)
    return null;
  return first.name;
}
