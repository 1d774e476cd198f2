/**
 * Untrusted text made visible: logs, file names and agents' words may hold control characters and bidirectional marks
 * that hide or reorder what a person reads. React escapes markup; this replaces the rest by a visible sign.
 */
const ANSI_STYLE = /\u001b\[[0-9;]*m/g;
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;
const INVISIBLE = /[\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

export function harmless(text: string): string {
  return text
    .replaceAll("\r\n", "\n")
    .replace(ANSI_STYLE, "")
    .replace(CONTROL, (char) => `\\x${hex(char, 2)}`)
    .replace(INVISIBLE, (char) => `\\u${hex(char, 4)}`);
}

const hex = (char: string, width: number): string => char.charCodeAt(0).toString(16).padStart(width, "0");
