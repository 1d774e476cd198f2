/** A fault of a value in short words: where it is, the expected value, the found value, and a hint. */

export type Problem = {
  /** JSON pointer; empty for the document itself. */
  path: string;
  message: string;
  expected: string;
  found: string;
  /** The value that was probably meant. */
  hint?: string;
  /** Id of the violated rule, if it is not the shape. */
  rule?: string;
};

/** Cuts text to a length, never inside a character. */
export function clip(text: string, length: number): string {
  if (text.length <= length) return text;
  return `${text.slice(0, length - 3).replace(/[\ud800-\udbff]$/, "")}...`;
}

/** Shortens a problem that quotes hostile input, so that it can be logged and returned. */
export function bounded(problem: Problem): Problem {
  return {
    ...problem,
    path: clip(problem.path, 512),
    message: clip(problem.message, 500),
    expected: clip(problem.expected, 1000),
    found: clip(problem.found, 200),
  };
}

/** A value as quoted in an error: short, one line. */
export function show(value: unknown): string {
  if (value === undefined) return "nothing";
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === "object" && value !== null) {
    const keys = Object.keys(value);
    return keys.length === 0
      ? "an empty object"
      : `an object with ${keys.slice(0, 6).join(", ")}${keys.length > 6 ? ", ..." : ""}`;
  }
  const text = JSON.stringify(value);
  return clip(text, 80);
}

/** Edits between two words; a transposition counts as one edit. Long words are not compared. */
export function distance(a: string, b: string): number {
  if (a.length > 64 || b.length > 64) return 64;
  let before: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const current = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      let best = Math.min((previous[j] ?? 0) + 1, (current[j - 1] ?? 0) + 1, (previous[j - 1] ?? 0) + same);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        best = Math.min(best, (before[j - 2] ?? 0) + 1);
      }
      current.push(best);
    }
    before = previous;
    previous = current;
  }
  return previous[b.length] ?? 64;
}

const plain = (text: string): string => text.toLowerCase().replaceAll(/[-_\s]/g, "");

/** The most similar candidate, or null if none is similar. */
export function nearest(word: string, candidates: readonly string[]): string | null {
  let best: { candidate: string; edits: number } | null = null;
  for (const candidate of candidates) {
    const edits =
      plain(word) === plain(candidate) ? 0 : distance(word.toLowerCase(), candidate.toLowerCase());
    if (edits <= Math.max(1, Math.floor(candidate.length / 3)) && (best === null || edits < best.edits)) {
      best = { candidate, edits };
    }
  }
  return best?.candidate ?? null;
}
