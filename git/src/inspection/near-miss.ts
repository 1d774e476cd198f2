/**
 * Finds the existing branch that somebody meant who typed the name of a new one: two neighbouring letters in the wrong order, or one
 * letter too few, too many or wrong. Names that differ in a digit, or in a part that is one letter long, are taken for names of a
 * series (`fix-1`, `fix-2`; `part-a`, `part-b`). Pure.
 */

/** Shorter names are close to too many others. */
const SHORTEST = 4;

/** Null: the name is none of these. */
export function nearMiss(name: string, branches: readonly string[]): string | null {
  if (name.length < SHORTEST) return null;
  return branches.find((branch) => branch !== name && isNear(name, branch)) ?? null;
}

function isNear(a: string, b: string): boolean {
  if (a.toLowerCase() === b.toLowerCase()) return true;
  if (Math.abs(a.length - b.length) > 1) return false;
  let start = 0;
  while (start < a.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < Math.min(a.length, b.length) - start && a.at(-1 - end) === b.at(-1 - end)) end += 1;
  const [left, right] = [a.slice(start, a.length - end), b.slice(start, b.length - end)];
  const swapped = left.length === 2 && left[0] === right[1] && left[1] === right[0];
  if (!swapped && (left.length > 1 || right.length > 1)) return false;
  const around = `${a[start - 1] ?? ""}${a[a.length - end] ?? ""}`;
  return /^[a-z]+$/i.test(left + right) && /[a-z]/i.test(around);
}
