/**
 * Finds the phrases of all cue groups in a folded text. The phrases stand in one sorted list. From each beginning of a word, the
 * part of the list that begins like the text is narrowed letter by letter, so the time is the length of the text times that of
 * the longest phrase at most.
 */
import type { CueGroup } from "./cues/cue-group.ts";
import { fold } from "./reading.ts";

export type CueHit = { readonly group: number; readonly at: number; readonly end: number };

type Phrase = {
  readonly letters: string;
  /** Groups that have it: as whole words, or with any ending. */
  readonly whole: number[];
  readonly open: number[];
};

const WORD = /[\p{L}\p{M}\p{N}]/u;
/** Letters of scripts that put no space between words, or attach particles to them. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー]/u;

export class CueList {
  /** Sorted by `letters`, so those with the same beginning are neighbours, and the shortest is the first of them. */
  readonly #phrases: readonly Phrase[];

  constructor(groups: readonly CueGroup[]) {
    const phrases = new Map<string, Phrase>();
    groups.forEach(({ words }, group) => {
      for (const entry of words.split("|")) add(phrases, fold(entry).trim(), group);
    });
    this.#phrases = [...phrases.values()].sort((a, b) => (a.letters < b.letters ? -1 : 1));
  }

  /** The longest phrase of each group at each place. `text` is folded and has a space at both ends. */
  find(text: string): CueHit[] {
    const hits: CueHit[] = [];
    let afterWord = false;
    for (let at = 0; at < text.length; at += 1) {
      const letter = text[at] ?? "";
      const inWord = WORD.test(letter);
      if (letter !== " " && (!inWord || !afterWord || UNSPACED.test(letter))) this.#findAt(text, at, hits);
      afterWord = inWord && !UNSPACED.test(letter);
    }
    return hits;
  }

  #findAt(text: string, from: number, hits: CueHit[]): void {
    const longest = new Map<number, number>();
    let low = 0;
    let high = this.#phrases.length;
    for (let end = from; low < high; end += 1) {
      const shortest = this.#phrases[low];
      if (shortest?.letters.length === end - from) {
        for (const group of shortest.open) longest.set(group, end);
        if (!WORD.test(text[end] ?? " ")) for (const group of shortest.whole) longest.set(group, end);
      }
      if (end === text.length) break;
      const letter = text.charCodeAt(end);
      low = this.#firstFrom(letter, end - from, low, high);
      high = this.#firstFrom(letter + 1, end - from, low, high);
    }
    for (const [group, end] of longest) hits.push({ group, at: from, end });
  }

  /** Of the phrases from `low` to `high`, which are alike before `place`: the first with no lesser letter there, or else `high`. */
  #firstFrom(letter: number, place: number, low: number, high: number): number {
    while (low < high) {
      const middle = (low + high) >> 1;
      const letters = this.#phrases[middle]?.letters ?? "";
      if (place < letters.length && letters.charCodeAt(place) >= letter) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}

function add(phrases: Map<string, Phrase>, entry: string, group: number): void {
  const anyEnding = entry.endsWith("*");
  const letters = anyEnding ? entry.slice(0, -1) : entry;
  if (letters === "") return;
  const phrase = phrases.get(letters) ?? { letters, whole: [], open: [] };
  phrases.set(letters, phrase);
  const ends = anyEnding || UNSPACED.test(letters.slice(-1)) ? phrase.open : phrase.whole;
  if (!ends.includes(group)) ends.push(group);
}
