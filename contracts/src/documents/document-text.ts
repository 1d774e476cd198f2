/**
 * Reads the text of a file as a value, with the line of every part. The same parser reads YAML and JSON.
 *
 * Size is bounded before parsing and nesting before recursion. Aliases, merge keys, tags and a second document are
 * refused, so that nothing can expand. A duplicate key is refused, in JSON too. A faulty text gives a Refusal with a
 * line, never another error.
 */
import { isAlias, isMap, isPair, isScalar, isSeq, LineCounter, visit, type Document } from "yaml";
import { limits } from "../limits.ts";
import type { Problem } from "../validation/problem.ts";
import { refuseDoubledKeys, TextFault, TextTooDeep, yamlDocument } from "./yaml-text.ts";

export type Place = { line: number; column: number };
export const START: Place = { line: 1, column: 1 };

export class Refusal extends Error {
  readonly problem: Problem & Place;
  constructor(place: Place, message: string, expected: string, found: string) {
    super(message);
    this.problem = { path: "", message, expected, found, ...place };
  }
}

export type Parsed = { value: unknown; placeOf: (path: string) => Place };

/** Throws Refusal and no other error. */
export function readDocument(text: string, filename: string): Parsed {
  const bytes = new TextEncoder().encode(text).length;
  if (bytes > limits.documentBytes) {
    throw new Refusal(
      START,
      "the file is too large",
      `at most ${limits.documentBytes} bytes`,
      `${bytes} bytes`,
    ); // contracts/C2
  }
  if (text.trim() === "") throw new Refusal(START, "the file is empty", "a document", "nothing");
  const isJson = filename.endsWith(".json") || /^\s*[[{]/.test(text);
  const lines = new LineCounter();
  const at = (offset: number): Place => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  };
  const document = placed(at, () => yamlDocument(text, lines, limits.messageDepth));
  if (document === null) throw new Refusal(START, "the file is empty", "a document", "nothing");
  const [first] = document.errors;
  if (first !== undefined)
    throw new Refusal(at(first.pos[0]), firstLine(first.message), isJson ? "JSON" : "YAML", "broken text");
  const [warning] = document.warnings;
  if (warning !== undefined)
    throw new Refusal(at(warning.pos[0]), firstLine(warning.message), "plain values", "a tag");
  placed(at, () => refuseDoubledKeys(document));
  refuseExpansion(document, at);
  return { value: document.toJS({ maxAliasCount: 0 }), placeOf: (path) => placeIn(document, path, at) };
}

const firstLine = (message: string): string => {
  const [line = ""] = message.split("\n", 1);
  const place = line.lastIndexOf(" at line ");
  return place < 0 ? line : line.slice(0, place);
};

/** Turns every error of `read` into a refusal with its place. */
function placed<T>(at: (offset: number) => Place, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof TextTooDeep) {
      const expected = `at most ${limits.messageDepth} levels`;
      throw new Refusal(at(error.offset), "nested too deeply", expected, "more"); // contracts/C2
    }
    if (error instanceof TextFault)
      throw new Refusal(at(error.offset), error.message, "one document with unique keys", "another");
    throw error;
  }
}

/** Refuses everything that could make a small file large or change its meaning. */
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

/** The place that a JSON pointer names: its key, or the last existing part of the path. */
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
