/**
 * Globs over repository paths: `*` (within a name), `**` (across names), `?`, `{a,b}`, and `\` before a literal
 * character. Brackets are literal, because file names such as `[id].ts` are common. A pattern without wildcards, or
 * ending in a slash, also matches everything below it.
 *
 * Patterns come from intents, so matching takes linear time by construction (glob-program.ts) and intake bounds a list of
 * patterns (`globFault` of the contracts). Of a list that opens something, such as a scope or a grant, a pattern over a bound
 * matches nothing. Of one that closes something, all patterns count, and one that cannot be written out matches every path.
 */
import { globAlternatives, limits } from "@antiphon/contracts";
import { GlobProgram, NAME_START, type Token } from "./glob-program.ts";

export interface PathMatcher {
  matches(path: string): boolean;
}

/** For globs that open something: scopes and grants. */
export function pathMatcher(globs: readonly string[]): PathMatcher {
  return matcherOf(globs, { most: limits.globCharacters, overBound: [] });
}

/** For globs that close something: guards, protected paths and gates. */
export function closingMatcher(globs: readonly string[]): PathMatcher {
  return matcherOf(globs, { most: Infinity, overBound: ["**"] });
}

interface Bounds {
  readonly most: number;
  /** Takes the place of a pattern with too many alternatives. */
  readonly overBound: readonly string[];
}

function matcherOf(globs: readonly string[], { most, overBound }: Bounds): PathMatcher {
  const plain = new Set<string>();
  const programs: GlobProgram[] = [];
  let left = most;
  for (const glob of globs) {
    for (const alternative of globAlternatives(glob) ?? overBound) {
      const tokens = tokensOf(alternative);
      const text = plainText(tokens);
      if (text !== null) plain.add(text);
      else if ((left -= tokens.length) >= 0) programs.push(new GlobProgram(tokens));
    }
  }
  return {
    matches(path) {
      if (plain.size > 0) {
        if (plain.has(path)) return true;
        for (let at = path.indexOf("/"); at !== -1; at = path.indexOf("/", at + 1)) {
          if (plain.has(path.slice(0, at))) return true;
        }
      }
      return programs.some((program) => program.matches(path));
    },
  };
}

/** A path as a glob that matches only that path. */
export function literalGlob(path: string): string {
  return path.replace(/[*?{}\\]/g, "\\$&");
}

function tokensOf(pattern: string): Token[] {
  const directory = pattern.endsWith("/");
  const bare = (directory ? pattern.slice(0, -1) : pattern).replace(/^\.?\//, "");
  return tokenize(directory && /[*?]/.test(bare) ? `${bare}/**` : bare);
}

/** Null for a pattern with wildcards. */
function plainText(tokens: readonly Token[]): string | null {
  let text = "";
  for (const token of tokens) {
    if (token.kind !== "char") return null;
    text += token.char;
  }
  return text;
}

function tokenize(pattern: string): Token[] {
  const tokens: Token[] = [];
  for (let at = 0; at < pattern.length; at += 1) {
    const char = pattern[at] ?? "";
    if (char === "\\" && at + 1 < pattern.length) {
      at += 1;
      tokens.push({ kind: "char", char: pattern[at] ?? "" });
    } else if (char === "*" && pattern[at + 1] === "*") {
      at += 1;
      // `a/**/b` also matches `a/b`, and `**/b` matches `b`: the slash belongs to the stars.
      const opens = tokens.length === 0 || isSlash(tokens.at(-1));
      const takesSlash = opens && pattern[at + 1] === "/";
      if (takesSlash) at += 1;
      if (takesSlash && isNameStart(tokens.at(-1))) continue; // `**/**/` means the same as `**/`
      pushStar(tokens, "globstar");
      if (takesSlash) tokens.push({ kind: "char", char: NAME_START });
    } else if (char === "*") pushStar(tokens, "star");
    else if (char === "?") tokens.push({ kind: "any" });
    else tokens.push({ kind: "char", char });
  }
  return tokens;
}

/** A run of several stars counts as its widest star. */
function pushStar(tokens: Token[], kind: "star" | "globstar"): void {
  const last = tokens.at(-1)?.kind;
  if (last === "globstar" || last === kind) return;
  if (last === "star") tokens.pop();
  tokens.push({ kind });
}

function isNameStart(token: Token | undefined): boolean {
  return token?.kind === "char" && token.char === NAME_START;
}

function isSlash(token: Token | undefined): boolean {
  return token?.kind === "char" && (token.char === "/" || token.char === NAME_START);
}
