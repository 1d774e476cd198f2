/**
 * Globs over repository paths: `*` (within a name), `**` (across), `?`, `{a,b}`, and `\` before a character
 * that is meant as it is. Brackets are plain characters: `[id].ts` is a file name people have. A pattern
 * without wildcards, or ending in a slash, also names everything below it.
 *
 * Matching takes time linear in path times pattern: patterns come from intents, so no backtracking.
 */
const MAX_ALTERNATIVES = 64;
const MAX_LENGTH = 1024;

type Token = { kind: "char"; char: string } | { kind: "any" } | { kind: "star" } | { kind: "globstar" };

export interface PathMatcher {
  matches(path: string): boolean;
}

export function pathMatcher(globs: readonly string[]): PathMatcher {
  const plain = new Set<string>();
  const programs: Token[][] = [];
  for (const glob of globs) {
    for (const alternative of alternatives(glob.slice(0, MAX_LENGTH))) compile(alternative, plain, programs);
  }
  return {
    matches(path) {
      if (plain.size > 0) {
        if (plain.has(path)) return true;
        for (let at = path.indexOf("/"); at !== -1; at = path.indexOf("/", at + 1)) {
          if (plain.has(path.slice(0, at))) return true;
        }
      }
      return programs.some((program) => runs(program, path));
    },
  };
}

/** A path as a glob that matches it only. */
export function literalGlob(path: string): string {
  return path.replace(/[*?{}\\]/g, "\\$&");
}

function compile(pattern: string, plain: Set<string>, programs: Token[][]): void {
  const directory = pattern.endsWith("/");
  const bare = (directory ? pattern.slice(0, -1) : pattern).replace(/^\.?\//, "");
  const tokens = tokenize(directory && /[*?]/.test(bare) ? `${bare}/**` : bare);
  if (tokens.every((token) => token.kind === "char")) {
    plain.add(tokens.map((token) => (token.kind === "char" ? token.char : "")).join(""));
  } else programs.push(tokens);
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
      if (opens && pattern[at + 1] === "/") at += 1;
      tokens.push({ kind: "globstar" });
      if (!opens || pattern[at] !== "/") continue;
      tokens.push({ kind: "char", char: "\0/" });
    } else if (char === "*") tokens.push({ kind: "star" });
    else if (char === "?") tokens.push({ kind: "any" });
    else tokens.push({ kind: "char", char });
  }
  return tokens;
}

function isSlash(token: Token | undefined): boolean {
  return token?.kind === "char" && (token.char === "/" || token.char === "\0/");
}

/** Runs all possibilities side by side, one character of the path at a time. */
function runs(tokens: readonly Token[], path: string): boolean {
  let states = skipping(tokens, new Set([0]), true);
  for (let at = 0; at < path.length; at += 1) {
    const char = path[at] ?? "";
    const next = new Set<number>();
    for (const state of states) {
      const token = tokens[state];
      if (token === undefined) continue;
      if (token.kind === "globstar") next.add(state);
      else if (token.kind === "star") {
        if (char !== "/") next.add(state);
      } else if (token.kind === "any") {
        if (char !== "/") next.add(state + 1);
      } else if (token.char === char) next.add(state + 1);
    }
    states = skipping(tokens, next, char === "/");
    if (states.size === 0) return false;
  }
  return states.has(tokens.length);
}

/** Stars may match nothing; the mark after a leading `**` is passed where a name starts. */
function skipping(tokens: readonly Token[], states: Set<number>, atNameStart: boolean): Set<number> {
  for (const state of states) {
    const token = tokens[state];
    if (token?.kind === "star" || token?.kind === "globstar") states.add(state + 1);
    else if (token?.kind === "char" && token.char === "\0/" && atNameStart) states.add(state + 1);
  }
  return states;
}

/** Braces written out, the first pair of each pattern at a time, until none is left or there are too many. */
function alternatives(pattern: string): string[] {
  let open = [pattern];
  const done: string[] = [];
  while (open.length > 0 && open.length + done.length <= MAX_ALTERNATIVES) {
    open = open.flatMap((candidate) => {
      const expanded = expandOnce(candidate);
      if (expanded === null) done.push(candidate);
      return expanded ?? [];
    });
  }
  return done;
}

/** Null when there is no pair of braces. An opening brace that never closes is a character like any other. */
function expandOnce(pattern: string): string[] | null {
  for (let open = unescaped(pattern, "{", 0); open !== -1; open = unescaped(pattern, "{", open + 1)) {
    const parts: string[] = [];
    let depth = 0;
    let start = open + 1;
    for (let at = open; at < pattern.length; at += 1) {
      const char = pattern[at];
      if (char === "\\") at += 1;
      else if (char === "{") depth += 1;
      else if (char === "," && depth === 1) {
        parts.push(pattern.slice(start, at));
        start = at + 1;
      } else if (char === "}") {
        depth -= 1;
        if (depth > 0) continue;
        parts.push(pattern.slice(start, at));
        return parts.map((part) => pattern.slice(0, open) + part + pattern.slice(at + 1));
      }
    }
  }
  return null;
}

function unescaped(pattern: string, char: string, from: number): number {
  for (let at = from; at < pattern.length; at += 1) {
    if (pattern[at] === "\\") at += 1;
    else if (pattern[at] === char) return at;
  }
  return -1;
}
