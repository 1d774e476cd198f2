/**
 * What a request asks for: scheme, authority, path and query, read in one way only.
 *
 * Invariants:
 *   U1  A path has one reading: no backslash, control character, broken escape, or segment that means `.` or `..` in
 *       any encoding.
 *   U2  Host equals the target, in name and port; there is exactly one.
 */
import { parseAuthority, type Authority } from "./host-name.ts";
import { EgressRefusal } from "./refusal.ts";

export interface Target extends Authority {
  readonly scheme: "http" | "https";
  /** As sent, and as it goes out. */
  readonly path: string;
  /** Without `?`; null: there is none. */
  readonly query: string | null;
}

/** `http://host/path`: what a client sends to a proxy. */
export function parseAbsolute(url: string): Target {
  const match = /^http:\/\/([^/?#]*)([^?#]*)(?:\?([^#]*))?$/i.exec(url);
  if (match === null) throw malformed("target:form", "not an absolute http URL; for https use CONNECT");
  const [, authority = "", path = "", query] = match;
  const at = parseAuthority(authority, 80);
  return { scheme: "http", ...at, path: checkedPath(path === "" ? "/" : path), query: checkedQuery(query) };
}

/** `/path`: what a client sends inside a tunnel to `authority`. */
export function parseOrigin(url: string, authority: Authority): Target {
  const match = /^(\/[^?#]*)(?:\?([^#]*))?$/.exec(url);
  if (match === null) throw malformed("target:form", "not a path");
  const [, path = "", query] = match;
  return { scheme: "https", ...authority, path: checkedPath(path), query: checkedQuery(query) };
}

/** U2. `hosts`: every Host header there is. */
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
    throw malformed("target:path", "a path with characters that do not belong there");
  if (/%(?![0-9a-fA-F]{2})/.test(path)) throw malformed("target:path", "a broken percent escape");
  const plain = decoded(path);
  if (/[\x00-\x1f\x7f\\]/.test(plain)) throw malformed("target:path", "an escape of a control character"); // U1
  if (
    decoded(plain)
      .split("/")
      .some((part) => part === "." || part === "..")
  )
    throw malformed("target:path", "a segment that leaves its folder"); // U1
  return path;
}

function checkedQuery(query: string | undefined): string | null {
  if (query === undefined) return null;
  if (query.length > 16_384 || !/^[\x21-\x7e]*$/.test(query))
    throw malformed("target:query", "a query with characters that do not belong there");
  return query;
}

/** Bytes read as Latin-1: only ASCII is looked for. */
function decoded(text: string): string {
  return text.replaceAll(/%([0-9a-fA-F]{2})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

/** The path and query for a log: values of the query are left out, names are kept. */
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
