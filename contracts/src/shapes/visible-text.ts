// Makes text from outside harmless on a terminal: characters that move the cursor, reorder or hide text, or end a line are
// shown as escapes, such as \x1b, \u202e and \n. Applying it twice changes nothing. Pure.

/**
 * Controls (C0, DEL, C1), bidi and zero-width characters, line and paragraph separators, lone surrogates, and the other
 * characters without a glyph. A tab stays, and so do the two selectors that choose the form of an emoji.
 */
const UNSEEN = /(?!\t|\ufe0e|\ufe0f)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}]/gu;

const NAMED: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r" };

/** Most text has none of these characters. */
const HARMLESS = /^[\n\t\u0020-\u007e]*$/;

/** One line: a line break in it is shown as `\n`. */
export function visibleText(text: string): string {
  return text.replace(UNSEEN, (char) => NAMED[char] ?? escapeOf(char.codePointAt(0) ?? 0));
}

/** The lines of a text, each without its line break; those of Windows are known. */
export function linesOf(text: string): string[] {
  return text.split(/\r?\n/);
}

/** JSON escapes only C0 controls. The rest is escaped here, in a way that leaves the value unchanged. */
export function visibleJson(json: string): string {
  if (HARMLESS.test(json)) return json;
  return json.replace(UNSEEN, (char) => (char === "\n" ? char : codeUnits(char)));
}

function escapeOf(code: number): string {
  if (code < 0x100) return `\\x${hex(code, 2)}`;
  return code < 0x1_0000 ? `\\u${hex(code, 4)}` : `\\u{${hex(code, 5)}}`;
}

function codeUnits(char: string): string {
  return [...Array(char.length).keys()].map((at) => `\\u${hex(char.charCodeAt(at), 4)}`).join("");
}

function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, "0");
}
