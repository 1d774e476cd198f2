// Decides who may call the gateway. Pure.
//
// Any web page can make a browser on this machine call loopback. Two headers reveal such a call: a Host that is not one
// of our names (DNS rebinding), or an Origin of another site (CSRF).
import { sha256Hex } from "@antiphon/contracts";
import type { ErrorCode } from "@antiphon/contracts";

export interface CallerHeaders {
  readonly host: string | undefined;
  readonly origin: string | undefined;
  readonly secFetchSite: string | undefined;
  readonly authorization: string | undefined;
}

export interface GuardPolicy {
  /** Host names, besides loopback, that callers may use. */
  readonly allowedHosts: readonly string[];
  readonly token: string | null;
  /** People with tokens of their own, which identify them. */
  readonly people?: readonly Person[];
}

export interface Person {
  readonly name: string;
  readonly token: string;
}

export type GuardVerdict =
  | { kind: "pass"; principal: string }
  /** A session token that is still to be verified. */
  | { kind: "session"; token: string }
  | { kind: "refuse"; code: ErrorCode; detail: string };

/** The form of a session token. */
const SESSION_TOKEN = /^eyJ[\w-]*\.[\w-]+\.[\w-]*$/;

const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]"]);

export function isLoopback(host: string): boolean {
  return LOOPBACK.has(host) || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host);
}

export function judgeCaller(headers: CallerHeaders, policy: GuardPolicy): GuardVerdict {
  const name = hostName(headers.host);
  if (name === null || !(isLoopback(name) || policy.allowedHosts.includes(name))) {
    return refuse(
      "ANT_GATEWAY_HOST",
      `the Host header ${JSON.stringify(headers.host ?? "")} is not a name of this gateway`,
    );
  }
  if (headers.origin !== undefined && !isSameOrigin(headers.origin, headers.host ?? "")) {
    return refuse("ANT_GATEWAY_ORIGIN", `a page of ${headers.origin} may not call this gateway`);
  }
  if (headers.secFetchSite !== undefined && !["same-origin", "none"].includes(headers.secFetchSite)) {
    return refuse("ANT_GATEWAY_ORIGIN", "a page of another site may not call this gateway");
  }
  const sent = /^Bearer (.+)$/i.exec(headers.authorization ?? "")?.[1];
  if (sent !== undefined && SESSION_TOKEN.test(sent)) return { kind: "session", token: sent };
  if (policy.token === null) return { kind: "pass", principal: "local" };
  if (headers.authorization === undefined)
    return refuse("ANT_GATEWAY_TOKEN_REQUIRED", "no bearer token was sent");
  const principal = sent === undefined ? null : principalOf(sent, policy.token, policy.people ?? []);
  return principal === null
    ? refuse("ANT_GATEWAY_TOKEN_REQUIRED", "the bearer token is wrong")
    : { kind: "pass", principal };
}

/** Compares every token, so the time does not reveal which one matched. */
function principalOf(sent: string, token: string, people: readonly Person[]): string | null {
  const known = [{ name: "token", token }, ...people].filter((person) => sameSecret(sent, person.token));
  return known[0]?.name ?? null;
}

function refuse(code: ErrorCode, detail: string): GuardVerdict {
  return { kind: "refuse", code, detail };
}

function hostName(host: string | undefined): string | null {
  return /^(\[[0-9a-f:]+\]|[a-z0-9.-]+)(:\d{1,5})?$/i.exec(host ?? "")?.[1]?.toLowerCase() ?? null;
}

function isSameOrigin(origin: string, host: string): boolean {
  return origin === `http://${host}` || origin === `https://${host}`;
}

/** Hashing makes the lengths equal, and every character is compared, so the time reveals nothing. */
function sameSecret(a: string, b: string): boolean {
  const [left, right] = [sha256Hex(a), sha256Hex(b)];
  let difference = 0;
  for (let i = 0; i < left.length; i++) difference |= left.charCodeAt(i) ^ right.charCodeAt(i);
  return difference === 0;
}
