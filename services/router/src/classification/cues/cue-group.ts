/** Words and phrases of many languages that say the same thing about a request. */
export type CueGroup = {
  /** What the words say, for people. */
  readonly name: string;
  /**
   * Phrases between `|`, as people type them. Accents and case do not matter. A trailing `*` accepts any ending. A phrase
   * of a script without spaces matches anywhere.
   */
  readonly words: string;
};
