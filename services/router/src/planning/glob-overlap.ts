/**
 * Whether two lists of globs may match the same path. Pure. In doubt the answer is yes, because two tasks that wait for
 * each other without need only cost time.
 *
 * Globs come from intents, so the work is bounded: a comparison that would take longer counts as an overlap.
 */
import { globAlternatives } from "@antiphon/contracts";

/** The steps that all comparisons of one plan may take together. */
export interface Effort {
  left: number;
}

export const fullEffort = (): Effort => ({ left: 2_000_000 });

/** The first two globs that may match the same path; null: none do. An empty list means every path. */
export function overlapOf(
  one: readonly string[],
  other: readonly string[],
  effort: Effort,
): [string, string] | null {
  for (const a of one.length === 0 ? ["**"] : one)
    for (const b of other.length === 0 ? ["**"] : other) if (mayMeet(a, b, effort)) return [a, b];
  return null;
}

function mayMeet(a: string, b: string, effort: Effort): boolean {
  const [left, right] = [globAlternatives(a), globAlternatives(b)];
  if (left === null || right === null) return true;
  const rights = right.map(namesOf);
  return left.map(namesOf).some((names) => rights.some((others) => namesMeet(names, others, effort)));
}

type Name = "**" | readonly Char[];
type Char = { readonly any: boolean; readonly star: boolean; readonly char: string };

/** A name with an extension. It could be a folder; then two changes may conflict, and the later one is made again. */
const FILE_NAME = /[^/.][^/]*\.[A-Za-z][A-Za-z0-9]*$/;

/** A pattern without wildcards, and one that ends in a slash, also matches everything below it. */
function namesOf(pattern: string): Name[] {
  const bare = pattern.replace(/^\.?\//, "");
  const names = bare
    .split("/")
    .filter((name) => name !== "")
    .map((name): Name => (name.includes("**") ? "**" : charsOf(name)));
  const isPlain = names.every((name) => name !== "**" && name.every(({ any, star }) => !any && !star));
  const isFolder = bare.endsWith("/") || (isPlain && !FILE_NAME.test(bare));
  return isFolder ? [...names, "**"] : names;
}

function charsOf(name: string): Char[] {
  const chars: Char[] = [];
  for (let at = 0; at < name.length; at += 1) {
    const char = name[at] ?? "";
    if (char === "\\" && at + 1 < name.length) {
      at += 1;
      chars.push({ any: false, star: false, char: name[at] ?? "" });
    } else chars.push({ any: char === "?", star: char === "*", char });
  }
  return chars;
}

function namesMeet(a: readonly Name[], b: readonly Name[], effort: Effort): boolean {
  return meet(
    a,
    b,
    (name) => name === "**",
    (x, y) => x === "**" || y === "**" || charsMeet(x, y, effort),
    effort,
  );
}

function charsMeet(a: readonly Char[], b: readonly Char[], effort: Effort): boolean {
  return meet(
    a,
    b,
    ({ star }) => star,
    (x, y) => x.any || y.any || x.char === y.char,
    effort,
  );
}

/** Whether two sequences with wildcards for any number of parts can be equal, in time of the product of their lengths. */
function meet<T>(
  a: readonly T[],
  b: readonly T[],
  isWild: (part: T) => boolean,
  fits: (x: T, y: T) => boolean,
  effort: Effort,
): boolean {
  effort.left -= (a.length + 1) * (b.length + 1);
  if (effort.left < 0) return true;
  // row[j]: the parts of `a` seen so far can equal the first j parts of `b`.
  let row = [true];
  for (const [j, part] of b.entries()) row.push(row[j] === true && isWild(part));
  for (const x of a) {
    const next = [row[0] === true && isWild(x)];
    for (const [j, y] of b.entries())
      next.push(
        isWild(x) || isWild(y) ? row[j + 1] === true || next[j] === true : row[j] === true && fits(x, y),
      );
    row = next;
  }
  return row.at(-1) === true;
}
