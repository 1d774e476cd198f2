/**
 * The one reading of a host name. A name that two programs could read in two ways is not read at all.
 *
 * Invariants:
 *   H1  A name is ASCII letters, digits, dashes and dots, lower-cased, with at least two labels: no userinfo, no NUL, no
 *       percent, no trailing dot, no Unicode (IDNA is the client's work: `xn--` labels are names like any other).
 *   H2  Nothing that any resolver could take for an address is a name: dotted, octal, hexadecimal, decimal or short
 *       IPv4, bracketed or bare IPv6.
 *   H3  Names that mean this machine or its network whatever DNS says are refused.
 */
import { EgressRefusal } from "./refusal.ts";

const LABEL = /^(?!-)[a-z0-9-]{1,63}(?<!-)$/;
/** RFC 6761, 6762, 8375, 9476, and what clouds call their metadata. */
const LOCAL_SUFFIXES = ["localhost", "local", "internal", "intranet", "lan", "arpa", "onion", "alt"];

export interface Authority {
  readonly host: string;
  readonly port: number;
}

export function parseHostName(text: string): string {
  const host = text.toLowerCase();
  if (host.startsWith("[") || host.includes(":")) throw address(text); // H2
  if (host.length === 0 || host.length > 253 || !/^[a-z0-9.-]+$/.test(host)) throw malformed(text); // H1
  const labels = host.split(".");
  const last = labels.at(-1) ?? "";
  if (/^(\d+|0x[0-9a-f]*)$/.test(last)) throw address(text); // H2
  if (!labels.every((label) => LABEL.test(label))) throw malformed(text); // H1
  if (labels.length < 2 || LOCAL_SUFFIXES.includes(last)) {
    throw new EgressRefusal("ANT_EGRESS_ADDRESS", "host:local", `${show(text)} is a name of a local network`); // H3
  }
  return host;
}

/** `host:port`, as in CONNECT; `defaultPort` where the port may be left out, as in Host. */
export function parseAuthority(text: string, defaultPort: number | null): Authority {
  if (text.includes("@"))
    throw new EgressRefusal("ANT_EGRESS_MALFORMED", "host:userinfo", "a user name has no place in a target");
  const bracketed = /^\[[^\]]*\](:\d{1,5})?$/.test(text);
  const at = bracketed ? -1 : text.lastIndexOf(":");
  if (bracketed || (at >= 0 && text.indexOf(":") !== at)) throw address(text); // H2
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
