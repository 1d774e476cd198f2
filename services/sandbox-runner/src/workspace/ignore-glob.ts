/**
 * The glob of one part of a path, in a `.gitignore`: as tokens that each accept one character, and stars. Without regular
 * expressions, because the glob comes from an untrusted repository.
 */

export type Token =
  | { readonly kind: "text"; readonly code: number }
  | { readonly kind: "any" }
  | { readonly kind: "star" }
  | {
      readonly kind: "set";
      readonly inverted: boolean;
      readonly ranges: readonly (readonly [number, number])[];
    }
  | { readonly kind: "never" };

/** Ranges of characters, each from the first of a pair to the second. */
function between(...pairs: readonly string[]): readonly (readonly [number, number])[] {
  return pairs.map((pair) => [pair.charCodeAt(0), pair.charCodeAt(1)]);
}

const NAMED: Readonly<Record<string, readonly (readonly [number, number])[]>> = {
  alpha: between("AZ", "az"),
  digit: between("09"),
  alnum: between("09", "AZ", "az"),
  upper: between("AZ"),
  lower: between("az"),
  space: between("\t\r", "  "),
  blank: between("\t\t", "  "),
  punct: between("!/", ":@", "[`", "{~"),
  xdigit: between("09", "AF", "af"),
  print: between(" ~"),
  graph: between("!~"),
  cntrl: between("\u0000\u001f", "\u007f\u007f"),
};

/** A star accepts nothing here: the matcher decides how much it stands for. */
export function accepts(token: Token, code: number): boolean {
  if (token.kind === "text") return token.code === code;
  if (token.kind === "any") return true;
  if (token.kind !== "set") return false;
  return token.ranges.some(([low, high]) => code >= low && code <= high) !== token.inverted;
}

export function tokensOf(part: string): readonly Token[] {
  const tokens: Token[] = [];
  for (let at = 0; at < part.length; at += 1) {
    const char = part[at];
    if (char === "*") {
      if (tokens.at(-1)?.kind !== "star") tokens.push({ kind: "star" });
    } else if (char === "?") tokens.push({ kind: "any" });
    else if (char === "[") {
      const set = setOf(part, at + 1);
      tokens.push(set.token);
      at = set.end;
    } else if (char === "\\") {
      at += 1;
      tokens.push(at < part.length ? { kind: "text", code: part.charCodeAt(at) } : { kind: "never" });
    } else tokens.push({ kind: "text", code: part.charCodeAt(at) });
  }
  return tokens;
}

/** The set that begins at `start`, after its bracket. A set without an end matches nothing. */
function setOf(part: string, start: number): { readonly token: Token; readonly end: number } {
  let at = start;
  const inverted = part[at] === "!" || part[at] === "^";
  if (inverted) at += 1;
  const ranges: (readonly [number, number])[] = [];
  for (let first = true; at < part.length; first = false) {
    if (part[at] === "]" && !first) return { token: { kind: "set", inverted, ranges }, end: at };
    const named = /^\[:([a-z]+):\]/.exec(part.slice(at, at + 12));
    if (named !== null) {
      ranges.push(...(NAMED[named[1] ?? ""] ?? []));
      at += named[0].length;
      continue;
    }
    const low = codeAt(part, at);
    at = low.next;
    if (part[at] === "-" && at + 1 < part.length && part[at + 1] !== "]") {
      const high = codeAt(part, at + 1);
      ranges.push([low.code, high.code]);
      at = high.next;
    } else ranges.push([low.code, low.code]);
  }
  return { token: { kind: "never" }, end: part.length };
}

function codeAt(part: string, at: number): { readonly code: number; readonly next: number } {
  const escaped = part[at] === "\\" && at + 1 < part.length ? 1 : 0;
  return { code: part.charCodeAt(at + escaped), next: at + escaped + 1 };
}
