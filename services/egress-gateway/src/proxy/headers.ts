/**
 * Request framing and the headers to forward. A request must have at most one Content-Length or `chunked`; headers that
 * belong to one connection are dropped, and Node frames the forwarded request anew.
 */
import { EgressRefusal } from "../policy/refusal.ts";

export type Headers = Readonly<Record<string, string | string[]>>;
type Incoming = Readonly<Record<string, string | readonly string[] | undefined>>;

const HOP = [
  ...[
    "connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
  ],
  ...["transfer-encoding", "upgrade", "expect", "http2-settings", "host"],
];

/** Headers by which a server takes a request for another one than the policy allowed. */
const OVERRIDES = [
  ...["x-http-method-override", "x-http-method", "x-method-override", "x-original-method"],
  ...["x-original-url", "x-rewrite-url", "x-forwarded-uri", "x-original-uri"],
];

/** All values of one header, from the raw list. */
export function allOf(rawHeaders: readonly string[], name: string): string[] {
  return rawHeaders.filter((_, i) => i % 2 === 1 && rawHeaders[i - 1]?.toLowerCase() === name);
}

/** True when a body follows. Throws for framing that two programs could read differently (egress-gateway/E5). */
export function framing(rawHeaders: readonly string[]): boolean {
  const lengths = allOf(rawHeaders, "content-length");
  const codings = allOf(rawHeaders, "transfer-encoding");
  const fault =
    lengths.length > 1 || codings.length > 1 || lengths.length + codings.length > 1
      ? "more than one length"
      : codings.some((coding) => coding.trim().toLowerCase() !== "chunked")
        ? "a transfer coding other than chunked"
        : lengths.some((length) => !/^\d{1,15}$/.test(length.trim()))
          ? "a length that is not a number"
          : null;
  if (fault !== null) throw new EgressRefusal("ANT_EGRESS_MALFORMED", "header:framing", fault);
  return codings.length > 0 || Number(lengths[0] ?? "0") > 0;
}

/** The headers to forward. */
export function endToEnd(headers: Incoming): Headers {
  const named = new Set(
    String(headers["connection"] ?? "")
      .toLowerCase()
      .split(",")
      .map((token) => token.trim()),
  );
  const kept = Object.entries(headers).filter(
    ([name, value]) =>
      value !== undefined && !HOP.includes(name) && !OVERRIDES.includes(name) && !named.has(name),
  );
  return Object.fromEntries(kept) as Headers;
}
