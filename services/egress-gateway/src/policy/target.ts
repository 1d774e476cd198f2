/**
 * The target of a request: scheme, authority, path and query. A path with a backslash, a control character, a broken
 * escape, or a segment that means `.` or `..` in any encoding is refused, since programs read it in different ways.
 */
import { parseAuthority, type Authority } from "./host-name.ts";
import { EgressRefusal } from "./refusal.ts";

export interface Target extends Authority {
  readonly scheme: "http" | "https";
  /** As the sandbox sent it; it is forwarded unchanged. */
  readonly path: string;
  /** Without `?`; null: the target has no query. */
  readonly query: string | null;
}

/** Reads `http://host/path`, which a client sends to a proxy. */
export function parseAbsolute(url: string): Target {
  const match = /^http:\/\/([^/?#]*)([^?#]*)(?:\?([^#]*))?$/i.exec(url);
  if (match === null) throw malformed("target:form", "not an absolute http URL; for https use CONNECT");
  const [, authority = "", path = "", query] = match;
  const at = parseAuthority(authority, 80);
  return { scheme: "http", ...at, path: checkedPath(path === "" ? "/" : path), query: checkedQuery(query) };
}

/** Reads `/path`, which a client sends inside a tunnel to `authority`. */
export function parseOrigin(url: string, authority: Authority): Target {
  const match = /^(\/[^?#]*)(?:\?([^#]*))?$/.exec(url);
  if (match === null) throw malformed("target:form", "not a path");
  const [, path = "", query] = match;
  return { scheme: "https", ...authority, path: checkedPath(path), query: checkedQuery(query) };
}

/** egress-gateway/E5: exactly one Host header, which equals the target. `hosts`: all Host headers of the request. */
export function checkHost(target: Target, hosts: readonly string[]): void {
  const [only] = hosts;
  if (only === undefined || hosts.length !== 1) {
    throw malformed("target:host", `${hosts.length} Host headers; there must be one`);
  }
  const said = parseAuthority(only, target.scheme === "http" ? 80 : 443);
  if (said.host !== target.host || said.port !== target.port) {
    throw new EgressRefusal(
      "ANT_EGRESS_MISMATCH",
      "target:host",
      `Host is ${said.host}:${said.port}, the target ${target.host}:${target.port}`,
    );
  }
}

function checkedPath(path: string): string {
  if (path.length > 8192 || !/^\/[\x21-\x7e]*$/.test(path) || path.includes("\\") || path.includes("#"))
    throw malformed("target:path", "the path holds a character that a path must not hold");
  if (/%(?![0-9a-fA-F]{2})/.test(path)) throw malformed("target:path", "a broken percent escape");
  const plain = decoded(path);
  if (/[\x00-\x1f\x7f\\]/.test(plain)) throw malformed("target:path", "an escape of a control character"); // egress-gateway/E5
  if (
    decoded(plain)
      .split("/")
      .some((part) => part === "." || part === "..")
  )
    throw malformed("target:path", "a segment that leaves its folder"); // egress-gateway/E5
  return path;
}

function checkedQuery(query: string | undefined): string | null {
  if (query === undefined) return null;
  if (query.length > 16_384 || !/^[\x21-\x7e]*$/.test(query))
    throw malformed("target:query", "the query holds a character that a query must not hold");
  return query;
}

/** Decodes percent escapes as Latin-1, which is enough because callers look for ASCII only. */
function decoded(text: string): string {
  return text.replaceAll(/%([0-9a-fA-F]{2})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

/** Path and query for a log, without the values of the query. */
export function redacted(path: string, query: string | null): string {
  if (query === null) return path.slice(0, 1024);
  const names = query.split("&").map((pair) => {
    const at = pair.indexOf("=");
    return at < 0 ? "…" : `${pair.slice(0, at)}=…`;
  });
  return `${path}?${names.join("&")}`.slice(0, 1024);
}

function malformed(rule: string, why: string): EgressRefusal {
  return new EgressRefusal("ANT_EGRESS_MALFORMED", rule, why);
}
