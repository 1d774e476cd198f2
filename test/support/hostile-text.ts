/** Text that would do harm on a terminal, and what a terminal must never be sent. */

/** A line of its own that looks like ours. */
export const FORGED = "error ANT_FORGED: antiphon says";

/** Colours, a clear screen, a link, a title, an overwritten line, a bell, C1, bidi, nothing to be seen, line breaks. */
export const HOSTILE = [
  "\u001b[31mEVIL\u001b[2J\u001b[8m",
  "\u001b]8;;evil:x\u0007link\u001b]8;;\u001b\\\u001b]0;title\u0007",
  "good\rbad\b\u0007\u009b35m\u0090\u009d",
  "\u202eoot\u202c\u2066iso\u2069\u200b\u200d\ufeff\u2028\u2029\u00ad\u{e0041}",
  `\n${FORGED}\r\n${FORGED}\u0085${FORGED}\u000b${FORGED}\n`,
].join("");

/** Its first characters, as visible text and in JSON. */
export const SEEN = "\\x1b[31mEVIL";
export const SEEN_IN_JSON = "\\u001b[31mEVIL";

/** Our own colours, and what erases our own status line. */
const OWN = /\u001b\[(1|2|22|31|32|33|39)m|\r\u001b\[2K/g;

/** Written out, so that it does not share a fault with the product's own list. */
const HARMFUL =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]/u;

/** What is wrong with output that a terminal was sent; empty: nothing. */
export function faultsIn(output: string): string[] {
  const text = output.replace(OWN, "");
  const harmful = HARMFUL.exec(text);
  const faults: string[] = [];
  if (output.includes("\u001b[31mEVIL")) faults.push("a colour from outside");
  if (harmful !== null)
    faults.push(
      `the character ${JSON.stringify(harmful[0])} in ${JSON.stringify(text.slice(Math.max(0, harmful.index - 60), harmful.index + 20))}`,
    );
  if (text.split("\n").some((line) => line.startsWith(FORGED)))
    faults.push("a line that passes for one of ours");
  return faults;
}
