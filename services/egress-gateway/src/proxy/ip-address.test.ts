import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isPublicAddress } from "./ip-address.ts";

describe("a public address", () => {
  it.each([
    ...[
      "0.0.0.0",
      "10.1.2.3",
      "100.64.0.1",
      "100.127.255.255",
      "127.0.0.1",
      "127.255.0.1",
      "169.254.169.254",
    ],
    ...[
      "172.16.0.1",
      "172.31.255.255",
      "192.0.0.8",
      "192.0.2.1",
      "192.168.1.1",
      "198.18.0.1",
      "198.19.255.255",
    ],
    ...[
      "198.51.100.1",
      "203.0.113.9",
      "224.0.0.1",
      "239.255.255.255",
      "240.0.0.1",
      "255.255.255.255",
      "168.63.129.16",
    ],
    ...[
      "::",
      "::1",
      "::ffff:8.8.8.8",
      "::ffff:808:808",
      "64:ff9b::808:808",
      "fc00::1",
      "fd12::1",
      "fe80::1",
      "ff02::1",
    ],
    ...["2001:db8::1", "2001::1", "2002:7f00:1::", "3fff::1", "fec0::1", "fe80::1%eth0", "100::1"],
    ...["", "1.2.3", "01.2.3.4", "1.2.3.256", "g::1", "1:2:3:4:5:6:7", "1::2::3", "localhost"],
  ])("egress-gateway/E3: is not %j", (text) => expect(isPublicAddress(text)).toBe(false));

  it.each([
    "1.1.1.1",
    "8.8.8.8",
    "100.63.0.1",
    "172.32.0.1",
    "192.0.1.1",
    "2606:4700:4700::1111",
    "2a00:1450::1",
  ])("is %s", (text) => expect(isPublicAddress(text)).toBe(true));

  it.each([
    ["64:ff9b:1::1", "translated by a local prefix"],
    ["::ffff:0:808:808", "translated"],
    ["2002:808:808::1", "6to4 of a public address"],
    ["2001:0:808:808::1", "Teredo"],
    ["2606:4700::1%eth0", "with a zone"],
    ["1fff:ffff::1", "below the routed block"],
    ["4000::1", "above the routed block"],
  ])("egress-gateway/E3: is not %s, %s", (text) => expect(isPublicAddress(text)).toBe(false));

  it("is one outside of every special block, by arithmetic on any IPv4 address", () => {
    const blocks = [
      ...["0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"],
      ...["192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24"],
      ...["192.168.0.0/16", "192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24"],
      ...["224.0.0.0/4", "240.0.0.0/4", "168.63.129.16/32"],
    ].map((block) => {
      const [base = "", bits] = block.split("/");
      return { base: numberOf(base), size: 2 ** (32 - Number(bits)) };
    });
    const isSpecial = (ip: string): boolean =>
      blocks.some(({ base, size }) => numberOf(ip) >= base && numberOf(ip) < base + size);
    const near = fc
      .tuple(fc.constantFrom(...blocks), fc.constantFrom(-1, 0, 1))
      .map(([{ base, size }, by]) => textOf(by === 1 ? base + size : base + by));
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), near), (ip) => isPublicAddress(ip) === !isSpecial(ip)),
      { numRuns: 5000 },
    );
  });
});

function numberOf(ip: string): number {
  return ip.split(".").reduce((sum, byte) => sum * 256 + Number(byte), 0);
}

function textOf(number: number): string {
  const address = ((number % 2 ** 32) + 2 ** 32) % 2 ** 32;
  return [24, 16, 8, 0].map((shift) => Math.floor(address / 2 ** shift) % 256).join(".");
}
