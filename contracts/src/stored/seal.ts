/** The seal of a closed run: one digest over the digests of its records, in stream order (J9). */
import { canonicalJson, digestOf } from "../wire/codec.ts";

export function sealOf(digests: readonly string[]): string {
  return digestOf(new TextEncoder().encode(canonicalJson(digests)));
}

/** Combinations tried where it is open which of two digests a damaged record had. */
const MAX_OPEN = 6;

/**
 * Whether `seal` is that of a run whose records have these digests (each one of several, where that is open). Between
 * the Director's last look and its `closed` somebody may still have written: those come last, and no seal covers them.
 */
export function sealFits(seal: string, records: readonly (readonly string[])[]): boolean {
  let open = 0;
  const choices = records.map((digests) => {
    if (digests.length > 1) open += 1;
    return open > MAX_OPEN ? digests.slice(0, 1) : digests;
  });
  return combinations(choices).some((digests) => {
    for (let count = digests.length; count > 0; count -= 1) {
      if (sealOf(digests.slice(0, count)) === seal) return true;
    }
    return false;
  });
}

function combinations(choices: readonly (readonly string[])[]): string[][] {
  return choices.reduce<string[][]>(
    (lines, digests) =>
      digests.length === 1
        ? lines.map((line) => [...line, ...digests])
        : lines.flatMap((line) => digests.map((digest) => [...line, digest])),
    [[]],
  );
}
