/**
 * Parses host names. A name that two programs could read in two ways is refused.
 *
 * A name has at least two labels of ASCII letters, digits and dashes; it is lower-cased. Userinfo, NUL, percent signs, a
 * trailing dot and Unicode are refused (the client does IDNA; an `xn--` label is a label like any other). Text that a
 * resolver could take for an address is refused: dotted, octal, hexadecimal, decimal or short IPv4, and IPv6. So are names
 * of this machine or its local network.
 */
import { EgressRefusal } from "./refusal.ts";

const LABEL = /^(?!-)[a-z0-9-]{1,63}(?<!-)$/;
/** From RFC 6761, 6762, 8375 and 9476, and the names of cloud metadata services. */
const LOCAL_SUFFIXES = ["localhost", "local", "internal", "intranet", "lan", "arpa", "onion", "alt"];

export interface Authority {
  readonly host: string;
  readonly port: number;
}

export function parseHostName(text: string): string {
  const host = text.toLowerCase();
  if (host.startsWith("[") || host.includes(":")) throw address(text);
  if (host.length === 0 || host.length > 253 || !/^[a-z0-9.-]+$/.test(host)) throw malformed(text);
  const labels = host.split(".");
  const last = labels.at(-1) ?? "";
  if (/^(\d+|0x[0-9a-f]*)$/.test(last)) throw address(text);
  if (!labels.every((label) => LABEL.test(label))) throw malformed(text);
  if (labels.length < 2 || LOCAL_SUFFIXES.includes(last)) {
    throw new EgressRefusal("ANT_EGRESS_ADDRESS", "host:local", `${show(text)} is a name of a local network`);
  }
  return host;
}

/** Reads `host:port`. A null `defaultPort` makes the port mandatory, as in CONNECT. */
export function parseAuthority(text: string, defaultPort: number | null): Authority {
  if (text.includes("@"))
    throw new EgressRefusal("ANT_EGRESS_MALFORMED", "host:userinfo", "a target must not hold a user name");
  const bracketed = /^\[[^\]]*\](:\d{1,5})?$/.test(text);
  const at = bracketed ? -1 : text.lastIndexOf(":");
  if (bracketed || (at >= 0 && text.indexOf(":") !== at)) throw address(text);
  const digits = at < 0 ? "" : text.slice(at + 1);
  if (at < 0 && defaultPort === null) throw malformed(text);
  if (at >= 0 && !/^[1-9]\d{0,4}$/.test(digits)) throw malformed(text);
  const port = at < 0 ? (defaultPort ?? 0) : Number(digits);
  if (port > 65_535) throw malformed(text);
  return { host: parseHostName(at < 0 ? text : text.slice(0, at)), port };
}

function address(text: string): EgressRefusal {
  return new EgressRefusal("ANT_EGRESS_ADDRESS", "host:literal", `${show(text)} is an address, not a name`);
}

function malformed(text: string): EgressRefusal {
  return new EgressRefusal("ANT_EGRESS_MALFORMED", "host:syntax", `${show(text)} is not a host name`);
}

function show(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 97)}...` : text);
}
