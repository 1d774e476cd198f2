/** Lengths in bytes, in which Linux counts the words and the variables of a program. Pure. */
const encoder = new TextEncoder();

export function bytesOf(text: string): number {
  return encoder.encode(text).length;
}

/** The begin of a text that fits, without half a character. */
export function withinBytes(text: string, most: number): string {
  if (text.length * 3 <= most) return text;
  const { read } = encoder.encodeInto(text, new Uint8Array(Math.max(0, most)));
  return text.slice(0, read);
}
