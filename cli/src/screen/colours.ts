// Our own colours, told apart from colour codes in text from outside: each of ours carries a key that is drawn at the start
// of the process and never printed. So a line is built by joining strings, and only the screen decides what is a colour.
import { randomBytes } from "node:crypto";
import { visibleText } from "@antiphon/contracts/shapes/visible-text";

export interface Colours {
  red(text: string): string;
  green(text: string): string;
  yellow(text: string): string;
  dim(text: string): string;
  bold(text: string): string;
}

const KEY = BigInt(`0x${randomBytes(16).toString("hex")}`).toString();
const OWN = new RegExp(`\\u001b\\[(\\d{1,2});${KEY}m`);

const painter =
  (on: number, off: number) =>
  (text: string): string =>
    `\u001b[${on};${KEY}m${text}\u001b[${off};${KEY}m`;

export const colours: Colours = {
  red: painter(31, 39),
  green: painter(32, 39),
  yellow: painter(33, 39),
  dim: painter(2, 22),
  bold: painter(1, 22),
};

/** The line as it is printed: our colours as codes or left out, everything else as visible text. */
export function rendered(line: string, coloured: boolean): string {
  return pieces(line, (code) => (coloured ? `\u001b[${code}m` : ""));
}

/** Visible text that keeps our colours, for a cell whose width is to be known. */
export function shown(text: string): string {
  return pieces(text, (code) => `\u001b[${code};${KEY}m`);
}

/** Two columns wide on a terminal; and without a width of its own. */
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;
const NARROW = /[\p{Mn}\p{Me}\ufe0e\ufe0f]/u;

/** The columns that a text takes on a terminal. */
export function widthOf(text: string): number {
  return [...rendered(text, false)].reduce((sum, char) => sum + columnsOf(char), 0);
}

/** The start of a text, without colours, that fits into so many columns. */
export function cutTo(text: string, columns: number): string {
  let left = columns;
  let fits = "";
  for (const char of rendered(text, false)) {
    left -= columnsOf(char);
    if (left < 0) break;
    fits += char;
  }
  return fits;
}

function columnsOf(char: string): number {
  if (char < "\u0300") return 1;
  return WIDE.test(char) ? 2 : NARROW.test(char) ? 0 : 1;
}

function pieces(text: string, colour: (code: string) => string): string {
  return text
    .split(OWN)
    .map((piece, at) => (at % 2 === 1 ? colour(piece) : visibleText(piece)))
    .join("");
}
