/**
 * Finds the phrases of all cue groups in a folded text. Phrases stand in one trie of letters, which is entered at each
 * beginning of a word, so the time is the length of the text times the longest phrase at most.
 */
import type { CueGroup } from "./cues/cue-group.ts";
import { fold } from "./reading.ts";

export type CueHit = { readonly group: number; readonly at: number; readonly end: number };

type Node = {
  readonly next: Map<string, Node>;
  /** Groups of which a phrase ends here: as whole words, or with any ending. */
  whole: number[];
  open: number[];
};

const node = (): Node => ({ next: new Map(), whole: [], open: [] });

const WORD = /[\p{L}\p{M}\p{N}]/u;
/** Letters of scripts that put no space between words, or attach particles to them. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー]/u;

export class CueTrie {
  readonly #root = node();

  constructor(groups: readonly CueGroup[]) {
    groups.forEach(({ words }, group) => {
      for (const entry of words.split("|")) this.#add(fold(entry).trim(), group);
    });
  }

  #add(entry: string, group: number): void {
    const anyEnding = entry.endsWith("*");
    const phrase = anyEnding ? entry.slice(0, -1) : entry;
    if (phrase === "") return;
    let at = this.#root;
    for (const letter of phrase) {
      let next = at.next.get(letter);
      if (next === undefined) at.next.set(letter, (next = node()));
      at = next;
    }
    const ends = anyEnding || UNSPACED.test(phrase.slice(-1)) ? at.open : at.whole;
    if (!ends.includes(group)) ends.push(group);
  }

  /** The longest phrase of each group at each place. `text` is folded and has a space at both ends. */
  find(text: string): CueHit[] {
    const hits: CueHit[] = [];
    let afterWord = false;
    for (let at = 0; at < text.length; at += 1) {
      const letter = text[at] ?? "";
      const inWord = WORD.test(letter);
      if (letter !== " " && (!inWord || !afterWord || UNSPACED.test(letter))) this.#walk(text, at, hits);
      afterWord = inWord && !UNSPACED.test(letter);
    }
    return hits;
  }

  #walk(text: string, from: number, hits: CueHit[]): void {
    const longest = new Map<number, number>();
    let at: Node | undefined = this.#root;
    for (let end = from; at !== undefined; end += 1) {
      for (const group of at.open) longest.set(group, end);
      if (at.whole.length > 0 && !WORD.test(text[end] ?? " ")) {
        for (const group of at.whole) longest.set(group, end);
      }
      at = end < text.length ? at.next.get(text[end] ?? "") : undefined;
    }
    for (const [group, end] of longest) hits.push({ group, at: from, end });
  }
}
