/**
 * Whether an address is public by IANA's special-purpose registries, and whether it may be one of a mirror in a private
 * network. It is applied to the resolver's answer; text that is not an address is neither.
 */
import { BlockList, isIPv4, isIPv6 } from "node:net";

const V4_REFUSED = blockList("ipv4", [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "168.63.129.16/32", // the host service of a cloud, at a public address
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.31.196.0/24",
  "192.52.193.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "192.175.48.0/24",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
]);
/** The only IPv6 block that is routed. Mapped, translated, local and multicast addresses are outside of it. */
const V6_ROUTED = blockList("ipv6", ["2000::/3"]);
/** Inside the routed block: protocol assignments with Teredo, documentation, 6to4. */
const V6_REFUSED = blockList("ipv6", ["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"]);

/** The machine itself, its link, all of a network, and the services of a cloud that hand out credentials. */
const V4_NEVER = blockList("ipv4", [
  "0.0.0.0/8",
  "100.100.100.200/32",
  "127.0.0.0/8",
  "168.63.129.16/32",
  "169.254.0.0/16",
  "192.0.0.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
]);
/** Unique local addresses (RFC 4193). */
const V6_LOCAL = blockList("ipv6", ["fc00::/7"]);
const V6_NEVER = blockList("ipv6", ["fd00:ec2::/32", "fd00:c1::/32", "fd20:ce::/32"]);

/** True for a public address too. */
export function isNetworkAddress(text: string): boolean {
  if (isIPv4(text)) return !V4_NEVER.check(text, "ipv4");
  if (!isIPv6(text) || text.includes("%") || V6_NEVER.check(text, "ipv6")) return false;
  return isPublicAddress(text) || V6_LOCAL.check(text, "ipv6");
}

export function isPublicAddress(text: string): boolean {
  if (isIPv4(text)) return !V4_REFUSED.check(text, "ipv4");
  // A block list does not read zones; no public address has one.
  if (!isIPv6(text) || text.includes("%")) return false;
  return V6_ROUTED.check(text, "ipv6") && !V6_REFUSED.check(text, "ipv6");
}

function blockList(family: "ipv4" | "ipv6", subnets: readonly string[]): BlockList {
  const list = new BlockList();
  for (const subnet of subnets) {
    const [base = "", bits] = subnet.split("/");
    list.addSubnet(base, Number(bits), family);
  }
  return list;
}
