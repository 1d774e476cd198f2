/**
 * YAML, read by the parser of the `yaml` package in three steps, so that no text takes more than linear time or a deep
 * stack. The package's own `parseDocument` composes values by recursion, whatever the depth: a few kilobytes of nested
 * text overflow the stack, and where V8 compiles a regular expression at that moment, the whole process ends.
 *
 * Invariants:
 *  YA1 Depth is counted while tokens are read, by the parser's own stack and before anything recursive sees them.
 *  YA2 Keys are compared through a set. The package compares each with each.
 */
import {
  Composer,
  isMap,
  isScalar,
  Lexer,
  Parser,
  visit,
  type CST,
  type Document,
  type LineCounter,
} from "yaml";

/** Beside the levels of nesting, the parser's stack holds the document and the scalar it is at. */
const OF_THE_STACK = 2;

export class TextTooDeep extends Error {
  readonly offset: number;
  constructor(offset: number) {
    super("nested too deeply");
    this.offset = offset;
  }
}

/**
 * The first document of a text; a further one is among its errors, and so are doubled keys.
 * @throws TextTooDeep
 */
export function yamlDocument(text: string, lines: LineCounter, maxDepth: number): Document.Parsed | null {
  const composer = new Composer({ merge: false, uniqueKeys: false, strict: true, version: "1.2" });
  const [first = null, second] = composer.compose(tokensOf(text, lines, maxDepth), true, text.length);
  if (first === null) return null;
  if (second !== undefined) throw new TextFault(second.range[0], "Source contains multiple documents");
  return first;
}

/** A fault of the text that the package does not tell of, or tells of too slowly. */
export class TextFault extends Error {
  readonly offset: number;
  constructor(offset: number, message: string) {
    super(message);
    this.offset = offset;
  }
}

function* tokensOf(text: string, lines: LineCounter, maxDepth: number): Generator<CST.Token, void> {
  const parser = new Parser(lines.addNewLine);
  lines.addNewLine(0);
  for (const lexeme of new Lexer().lex(text)) {
    yield* parser.next(lexeme);
    if (parser.stack.length > maxDepth + OF_THE_STACK) throw new TextTooDeep(parser.offset); // YA1
  }
  yield* parser.end();
}

/** YA2. @throws TextFault for a key that is there twice */
export function refuseDoubledKeys(document: Document.Parsed): void {
  visit(document, {
    Map(_key, map) {
      if (!isMap(map)) return;
      const seen = new Set<unknown>();
      for (const { key } of map.items) {
        if (!isScalar(key)) continue;
        if (seen.has(key.value)) throw new TextFault(key.range?.[0] ?? 0, "Map keys must be unique");
        seen.add(key.value);
      }
    },
  });
}
