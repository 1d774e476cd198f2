/**
 * Expands the braces of a glob, and bounds a list of globs. Globs come from intents, so a list that would take long to
 * match is refused when the run is accepted. Braces are read in one pass, and alternatives are counted before any of
 * them is written out.
 */
import { limits } from "../limits.ts";

/** A text, or alternatives, each of which is a sequence again. */
type Part = string | readonly Sequence[];
type Sequence = readonly Part[];

/** Braces in braces. Counting and writing them out takes one call for each level. */
const MAX_NESTING = 16;

/** The alternatives of a glob, without braces; null if there are more than limits.globAlternatives, or deeper braces. */
export function globAlternatives(glob: string): string[] | null {
  const sequence = sequenceOf(glob);
  if (sequence === null) return null;
  return countOf(sequence) > limits.globAlternatives ? null : writtenOut(sequence);
}

/** The fault of a list of globs, in words; null if the list can be matched in time. */
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

/** True if more than one path may match. */
export function hasWildcard(pattern: string): boolean {
  for (let at = 0; at < pattern.length; at += 1) {
    const char = pattern[at];
    if (char === "\\") at += 1;
    else if (char === "*" || char === "?") return true;
  }
  return false;
}

/** A brace without a partner is an ordinary character. Null if braces are nested deeper than MAX_NESTING. */
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

/** Positions of the braces that have a partner. */
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

/** Stops at one more than the bound, which stands for any larger number. */
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
