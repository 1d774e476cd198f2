/** The seal of a closed run: one digest over the digests of its records, in stream order. */
import { canonicalJson, digestOf } from "../wire/codec.ts";

export function sealOf(digests: readonly string[]): string {
  return digestOf(new TextEncoder().encode(canonicalJson(digests)));
}

/** Maximum number of combinations when it is unclear which of two digests a damaged record had. */
const MAX_OPEN = 6;

/**
 * Whether `seal` fits a run whose records have these digests (several candidates for a damaged record). Records written
 * between the Director's last read and its `closed` come last, and the seal does not cover them.
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
