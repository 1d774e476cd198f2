/** Releases that CI tries, one for each language, with the digests that their archives had. */
import { CATALOGUE, type PublicRepository } from "./catalogue.ts";

export interface FixedRelease extends PublicRepository {
  readonly digest: string;
  /** A toolchain that the standard image does not have. */
  readonly toolchain: string | null;
}

const DIGESTS: readonly (readonly [name: string, digest: string, toolchain: string | null])[] = [
  ["through", "sha256:16b27a8c0fb13e5727356b328d72dbbc5f20bd909252f14d19da344e9354573e", null],
  ["idna", "sha256:d838c2c0ed6fced7693d5e8ab8e734d5f8fda53a039c0164afb0b82e771e3603", null],
  ["try-tiny", "sha256:3300d31d8a4075b26d8f46ce864a1d913e0e8467ceeba6655d5d2b2e206c11be", null],
  ["match", "h1:+Ho715JplO36QYgwN9PGYNhgZvoUSc9X2c80KVTi+GA=", "go"],
  ["fnv", "sha256:3f9eec918d3f24069decb9af1554cad7c880e2da24a9afd88aca000531ab82c1", "rust"],
];

export const FIXED_SET: readonly FixedRelease[] = DIGESTS.map(([name, digest, toolchain]) => {
  const found = CATALOGUE.find((one) => one.name === name);
  if (found === undefined) throw new Error(`the catalogue has no ${name}`);
  return { ...found, digest, toolchain };
});
