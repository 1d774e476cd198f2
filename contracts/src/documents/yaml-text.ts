/**
 * Reads YAML in three steps with the parser of the `yaml` package, so that every text takes linear time and a shallow
 * stack. The package's own `parseDocument` composes values by recursion: a few kilobytes of nested text overflow the
 * stack, and if V8 compiles a regular expression at that moment, the process ends.
 *
 * Depth is counted while tokens are read, before any recursion. Keys are compared through a set, because the package
 * compares each key with every other.
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

/** Besides the levels of nesting, the parser's stack holds the document and the current scalar. */
const OF_THE_STACK = 2;

export class TextTooDeep extends Error {
  readonly offset: number;
  constructor(offset: number) {
    super("nested too deeply");
    this.offset = offset;
  }
}

/**
 * The first document of a text. Its errors include a further document and duplicate keys.
 * @throws TextTooDeep
 */
export function yamlDocument(text: string, lines: LineCounter, maxDepth: number): Document.Parsed | null {
  const composer = new Composer({ merge: false, uniqueKeys: false, strict: true, version: "1.2" });
  const compose = () => [...composer.compose(tokensOf(text, lines, maxDepth), true, text.length)];
  const [first = null, second] = withoutStacks(compose);
  if (first === null) return null;
  if (second !== undefined) throw new TextFault(second.range[0], "Source contains multiple documents");
  return first;
}

/** The package makes an error object for each fault of a text. With a stack each, 256 KiB of faults fill 250 MB. */
function withoutStacks<T>(read: () => T): T {
  const before = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  try {
    return read();
  } finally {
    Error.stackTraceLimit = before;
  }
}

/** A fault that the package does not report, or reports too slowly. */
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
    if (parser.stack.length > maxDepth + OF_THE_STACK) throw new TextTooDeep(parser.offset); // contracts/C2
  }
  yield* parser.end();
}

/** @throws TextFault for a duplicate key */
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
