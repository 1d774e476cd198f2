/**
 * Whether two lists of globs may match the same path. Pure. In doubt the answer is yes, because two tasks that wait for
 * each other without need only cost time.
 *
 * Globs come from intents, so the work is bounded: a comparison beyond the bound counts as an overlap.
 */
import { globAlternatives } from "@antiphon/contracts";

/** The steps that all comparisons of one plan may take together. */
export interface Effort {
  left: number;
}

/** Some milliseconds. A plan of a hundred tasks with a few folders each takes a fifth of it. */
export const fullEffort = (): Effort => ({ left: 250_000 });

/** The globs of one task, read once. */
export interface Files {
  readonly patterns: readonly Pattern[];
}

interface Pattern {
  readonly glob: string;
  /** Null: it cannot be compared. */
  readonly alternatives: readonly (readonly Name[])[] | null;
}

/** One name of a path; `any` stands for any number of names. */
type Name = { kind: "any" } | { kind: "text"; text: string } | { kind: "wild"; chars: readonly Char[] };
type Char = { readonly any: boolean; readonly star: boolean; readonly char: string };

/** An empty list means every file. */
export function filesOf(globs: readonly string[]): Files {
  return { patterns: (globs.length === 0 ? ["**"] : globs).map(patternOf) };
}

/** The first two globs that may match the same path; null: none do. */
export function overlapOf(one: Files, other: Files, effort: Effort): [string, string] | null {
  for (const a of one.patterns)
    for (const b of other.patterns) if (mayMeet(a, b, effort)) return [a.glob, b.glob];
  return null;
}

function patternOf(glob: string): Pattern {
  return { glob, alternatives: globAlternatives(glob)?.map(namesOf) ?? null };
}

function mayMeet({ alternatives: a }: Pattern, { alternatives: b }: Pattern, effort: Effort): boolean {
  if (a === null || b === null) return true;
  return a.some((names) => b.some((others) => namesMeet(names, others, effort)));
}

/** A pattern without wildcards, and one that ends in a slash, also matches everything below it. */
function namesOf(pattern: string): Name[] {
  const bare = pattern.startsWith("./") ? pattern.slice(2) : pattern;
  const parts = bare.split("/").filter((part) => part !== "");
  const names = parts.map((part): Name => (part.includes("**") ? { kind: "any" } : nameOf(part)));
  const isPlain = names.every(({ kind }) => kind === "text");
  const isFolder = bare.endsWith("/") || (isPlain && !isFileName(parts.at(-1) ?? ""));
  return isFolder ? [...names, { kind: "any" }] : names;
}

/** A name with an extension. If it is a folder, two changes may conflict, and the later one is made again. */
function isFileName(name: string): boolean {
  const dot = name.lastIndexOf(".");
  return dot > 0 && dot < name.length - 1;
}

function nameOf(part: string): Name {
  const chars: Char[] = [];
  for (let at = 0; at < part.length; at += 1) {
    const char = part[at] ?? "";
    if (char === "\\" && at + 1 < part.length) {
      at += 1;
      chars.push({ any: false, star: false, char: part[at] ?? "" });
    } else chars.push({ any: char === "?", star: char === "*", char });
  }
  const isText = chars.every(({ any, star }) => !any && !star);
  return isText ? { kind: "text", text: chars.map(({ char }) => char).join("") } : { kind: "wild", chars };
}

function namesMeet(a: readonly Name[], b: readonly Name[], effort: Effort): boolean {
  for (let at = 0; ; at += 1) {
    const [x, y] = [a[at], b[at]];
    if (x === undefined && y === undefined) return true;
    if (x === undefined || y === undefined || x.kind === "any" || y.kind === "any")
      return meet(a.slice(at), b.slice(at), isAny, (one, other) => nameMeets(one, other, effort), effort);
    if (!nameMeets(x, y, effort)) return false;
  }
}

const isAny = ({ kind }: Name): boolean => kind === "any";

function nameMeets(x: Name, y: Name, effort: Effort): boolean {
  effort.left -= 1;
  if (effort.left < 0 || x.kind === "any" || y.kind === "any") return true;
  if (x.kind === "text" && y.kind === "text") return x.text === y.text;
  return meet(charsOf(x), charsOf(y), isStar, charMeets, effort);
}

const isStar = ({ star }: Char): boolean => star;
const charMeets = (x: Char, y: Char): boolean => x.any || y.any || x.char === y.char;

function charsOf(name: Exclude<Name, { kind: "any" }>): readonly Char[] {
  if (name.kind === "wild") return name.chars;
  return Array.from(name.text, (char) => ({ any: false, star: false, char }));
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
