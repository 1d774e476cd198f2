// Joins the words of a program into a shell command. Pure.

/** One word is taken as a command line of its own: `check -- "npm test"` is `check -- npm test`. */
export function commandLine(words: readonly string[]): string {
  const [only = ""] = words;
  return words.length === 1 ? only : words.map(quoted).join(" ");
}

/** Quotes a word for the shell if it needs it. */
export function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
