/**
 * Whether a word is a slip of another one that exists: the same in another case or with other separators, with two neighbouring
 * letters in the wrong order, or with one letter too few, too many or wrong. Words that differ in a digit, or in a part that is one
 * letter long, are taken for names of a series (`fix-1`, `fix-2`; `part-a`, `part-b`). Pure.
 */

/** One letter more or less makes a shorter word too many others; only two swapped letters count there. */
const SHORTEST = 4;

const plain = (text: string): string => text.toLowerCase().replaceAll(/[-_\s]/g, "");

export function isSlip(word: string, of: string): boolean {
  return word !== of && (plain(word) === plain(of) || isOneEdit(word.toLowerCase(), of.toLowerCase()));
}

function isOneEdit(a: string, b: string): boolean {
  if (Math.abs(a.length - b.length) > 1) return false;
  let start = 0;
  while (start < a.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < Math.min(a.length, b.length) - start && a.at(-1 - end) === b.at(-1 - end)) end += 1;
  const [left, right] = [a.slice(start, a.length - end), b.slice(start, b.length - end)];
  const isSwapped = left.length === 2 && left[0] === right[1] && left[1] === right[0];
  if (!isSwapped && (left.length > 1 || right.length > 1 || a.length < SHORTEST)) return false;
  const around = `${a[start - 1] ?? ""}${a[a.length - end] ?? ""}`;
  return /^[a-z]+$/.test(left + right) && /[a-z]/.test(around);
}
