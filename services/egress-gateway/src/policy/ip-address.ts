/**
 * Whether an address is public by IANA's special-purpose registries. It is applied to the resolver's answer; text that is
 * not an address is not public.
 */

type Block = readonly [base: string, bits: number];

const V4_REFUSED: readonly Block[] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["168.63.129.16", 32], // the host service of a cloud, at a public address
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.31.196.0", 24],
  ["192.52.193.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["192.175.48.0", 24],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
];
/** Inside 2000::/3, the only block that is routed: protocol assignments, Teredo, documentation, 6to4. */
const V6_REFUSED: readonly Block[] = [
  ["2001:0:0:0:0:0:0:0", 23],
  ["2001:db8:0:0:0:0:0:0", 32],
  ["2002:0:0:0:0:0:0:0", 16],
  ["3fff:0:0:0:0:0:0:0", 20],
];

export function isPublicAddress(text: string): boolean {
  const v4 = parseV4(text);
  if (v4 !== null) return !V4_REFUSED.some(([base, bits]) => within(v4, parseV4(base) ?? [], bits, 8));
  const v6 = parseV6(text);
  if (v6 === null || !within(v6, [0x2000, 0, 0, 0, 0, 0, 0, 0], 3, 16)) return false;
  return !V6_REFUSED.some(([base, bits]) => within(v6, parseV6(base) ?? [], bits, 16));
}

function parseV4(text: string): readonly number[] | null {
  const parts = text.split(".");
  if (parts.length !== 4 || !parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part))) return null;
  const bytes = parts.map(Number);
  return bytes.every((byte) => byte <= 255) ? bytes : null;
}

/** The eight groups. Addresses with a zone or with trailing IPv4 are not read, since no public address has either. */
function parseV6(text: string): readonly number[] | null {
  const halves = text.toLowerCase().split("::");
  if (halves.length > 2 || !/^[0-9a-f:]+$/.test(text.toLowerCase())) return null;
  const groups = halves.map((half) => (half === "" ? [] : half.split(":")));
  const [head = [], tail = []] = groups;
  const missing = 8 - head.length - tail.length;
  if (halves.length === 2 ? missing < 1 : missing !== 0) return null;
  const all = [...head, ...Array.from({ length: halves.length === 2 ? missing : 0 }, () => "0"), ...tail];
  if (!all.every((group) => /^[0-9a-f]{1,4}$/.test(group))) return null;
  return all.map((group) => Number.parseInt(group, 16));
}

function within(value: readonly number[], base: readonly number[], bits: number, width: number): boolean {
  let left = bits;
  for (let i = 0; left > 0; i += 1) {
    const take = Math.min(width, left);
    const shift = width - take;
    if ((value[i] ?? 0) >> shift !== (base[i] ?? 0) >> shift) return false;
    left -= take;
  }
  return true;
}
