/**
 * The braces of a glob, written out, and the bound on a list of globs. Globs come from intents: a list that would take
 * long to match is refused where the run is taken in.
 *
 * Invariants:
 *  GL1 Reading braces takes one pass. How many alternatives there are is counted before any is written out.
 */
import { limits } from "../limits.ts";

/** A text, or alternatives of which each is a sequence again. */
type Part = string | readonly Sequence[];
type Sequence = readonly Part[];

/** Braces in braces. Counting and writing them out takes one call for each level. */
const MAX_NESTING = 16;

/** The alternatives of a glob without braces left in them; null: more than limits.globAlternatives, or nested too deep. */
export function globAlternatives(glob: string): string[] | null {
  const sequence = sequenceOf(glob);
  if (sequence === null) return null;
  return countOf(sequence) > limits.globAlternatives ? null : writtenOut(sequence);
}

/** What is wrong with a list of globs, in words; null when it can be matched in time. */
export function globFault(globs: readonly string[]): string | null {
  let characters = 0;
  for (const glob of globs) {
    const alternatives = globAlternatives(glob);
    if (alternatives === null)
      return `a glob has more than ${limits.globAlternatives} alternatives in its braces, or more than ${MAX_NESTING} braces in each other`;
    for (const one of alternatives) if (hasWildcard(one)) characters += one.length;
    if (characters > limits.globCharacters) {
      return `globs with wildcards have more than ${limits.globCharacters} characters, alternatives written out`;
    }
  }
  return null;
}

/** Whether more than one path may match. */
export function hasWildcard(pattern: string): boolean {
  for (let at = 0; at < pattern.length; at += 1) {
    const char = pattern[at];
    if (char === "\\") at += 1;
    else if (char === "*" || char === "?") return true;
  }
  return false;
}

/** An opening brace that never closes is a character like any other, and so is a closing one that was never opened. */
function sequenceOf(glob: string): Sequence | null {
  const closed = pairsOf(glob);
  const outer: Part[] = [];
  const open: { parts: Part[]; alternatives: Sequence[] }[] = [];
  let parts = outer;
  let text = "";
  const take = (): void => {
    if (text !== "") parts.push(text);
    text = "";
  };
  for (let at = 0; at < glob.length; at += 1) {
    const char = glob[at] ?? "";
    const group = open.at(-1);
    if (char === "\\") {
      text += glob.slice(at, at + 2);
      at += 1;
    } else if (closed.has(at) && char === "{") {
      take();
      if (open.length === MAX_NESTING) return null;
      open.push({ parts, alternatives: [] });
      parts = [];
    } else if (group !== undefined && (char === "," || (char === "}" && closed.has(at)))) {
      take();
      group.alternatives.push(parts);
      parts = [];
      if (char === ",") continue;
      parts = group.parts;
      parts.push(group.alternatives);
      open.pop();
    } else text += char;
  }
  take();
  return outer;
}

/** Where the braces stand that have a partner. */
function pairsOf(glob: string): ReadonlySet<number> {
  const pairs = new Set<number>();
  const open: number[] = [];
  for (let at = 0; at < glob.length; at += 1) {
    const char = glob[at];
    if (char === "\\") at += 1;
    else if (char === "{") open.push(at);
    else if (char === "}") {
      const partner = open.pop();
      if (partner !== undefined) pairs.add(partner).add(at);
    }
  }
  return pairs;
}

/** GL1: one more than the bound stands for any number beyond it. */
function countOf(sequence: Sequence): number {
  let count = 1;
  for (const part of sequence) {
    if (typeof part === "string") continue;
    const among = part.reduce((sum, alternative) => sum + countOf(alternative), 0);
    count = Math.min(count * among, limits.globAlternatives + 1);
  }
  return count;
}

function writtenOut(sequence: Sequence): string[] {
  let texts = [""];
  for (const part of sequence) {
    const tails = typeof part === "string" ? [part] : part.flatMap(writtenOut);
    texts = texts.flatMap((text) => tails.map((tail) => text + tail));
  }
  return texts;
}
