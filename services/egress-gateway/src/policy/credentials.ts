/**
 * Credentials that the gateway adds to requests.
 *
 * Promises:
 *   egress-gateway/E2 Because a credential is added outside the sandbox, for its own host and over TLS only, and every form
 *     of it is masked in that host's answers, in logs and in recordings, a sandbox can use a secret but cannot read it.
 */
import type { Target } from "./target.ts";

export interface Credential {
  readonly host: string;
  readonly header: string;
  readonly value: string;
  /** The secret in each form that could come back: plain, base64, percent-encoded, in JSON. */
  readonly secrets: readonly string[];
}

/** The headers to set; each replaces the sandbox's own. */
export function injected(
  credentials: readonly Credential[],
  target: Target,
): Readonly<Record<string, string>> {
  if (target.scheme !== "https") return {}; // egress-gateway/E2
  return Object.fromEntries(
    credentials.filter(({ host }) => host === target.host).map(({ header, value }) => [header, value]),
  );
}

/** egress-gateway/E2: the secrets of all hosts, longest first, since one host may echo another host's secret. */
export function secretsOf(credentials: readonly Credential[]): readonly string[] {
  return [...new Set(credentials.flatMap(({ secrets, value }) => [value, ...secrets]))].sort(
    (a, b) => b.length - a.length,
  );
}
