/**
 * A goal as the classifier reads it: bounded, folded and cut into tokens.
 *
 * Folding removes what people type differently: case, accents, full-width forms, kinds of apostrophes, runs of spaces.
 */

/** contracts/C2: of a longer goal the beginning and the end are read; requests stand there, pasted logs between. */
export const HEAD_CHARS = 1536;
export const TAIL_CHARS = 512;

const LETTERS: Readonly<Record<string, string>> = {
  ı: "i",
  ł: "l",
  ø: "o",
  ß: "ss",
  đ: "d",
  æ: "ae",
  œ: "oe",
};

export type Reading = {
  /** The part that is read, as it was typed. */
  readonly typed: string;
  /** The same, folded, in one line, with a space at both ends. */
  readonly folded: string;
  /** Words, numbers and single signs of `folded`. */
  readonly tokens: readonly string[];
};

export function fold(text: string): string {
  return text
    .toLowerCase()
    .normalize("NFKD")
    .replace(/[\u0300-\u036f]|[\u064b-\u0655]|\u0640|\u093c/g, "") // not \p{M}: kana and Hindi keep their marks
    .normalize("NFC")
    .replace(/[ıłøßđæœ]/g, (letter) => LETTERS[letter] ?? letter)
    .replace(/[‘’ʼ`´]/g, "'")
    .replace(/\s+/g, " ");
}

/** Either end of a cut may leave half a surrogate pair, which is replaced: records hold whole characters only. */
function cut(goal: string): string {
  if (goal.length <= HEAD_CHARS + TAIL_CHARS) return goal;
  return `${goal.slice(0, HEAD_CHARS)} ${goal.slice(-TAIL_CHARS)}`.toWellFormed();
}

export function read(goal: string): Reading {
  const typed = cut(goal);
  // Some signs unfold to many letters, so the folded text is bounded too.
  const folded = ` ${fold(typed)
    .trim()
    .slice(0, 2 * (HEAD_CHARS + TAIL_CHARS))} `;
  return { typed, folded, tokens: folded.match(/[\p{L}\p{M}\p{N}_'-]+|[^\s]/gu) ?? [] };
}
