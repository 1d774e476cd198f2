/**
 * Secrets the gateway adds, and the trace they must not leave.
 *
 * Invariants:
 *   V1  A credential goes to its own host over TLS, in its own header, in the place of whatever the sandbox sent there.
 *   V2  No form of a secret (plain, base64, percent-encoded, in JSON) goes back into a sandbox, a log or a recording.
 */
import type { Target } from "./target.ts";

export interface Credential {
  readonly host: string;
  readonly header: string;
  readonly value: string;
  /** What must not be seen: the secret in the forms it could come back in. */
  readonly needles: readonly string[];
}

/** Headers to set. */
export function injected(
  credentials: readonly Credential[],
  target: Target,
): Readonly<Record<string, string>> {
  if (target.scheme !== "https") return {}; // V1
  return Object.fromEntries(
    credentials.filter(({ host }) => host === target.host).map(({ header, value }) => [header, value]),
  );
}

/** V2: of all hosts, since one host may tell another's. */
export function needlesOf(credentials: readonly Credential[]): readonly string[] {
  return [...new Set(credentials.flatMap(({ needles, value }) => [value, ...needles]))].sort(
    (a, b) => b.length - a.length,
  );
}
