/** How long a sandbox's connection may dawdle (proxy/sandbox-listener.ts, L6). An object, so that a test has short ones. */
import { limits } from "@antiphon/contracts";

export interface Deadlines {
  /** Milliseconds for the token, for a request's header, for a TLS hello, for an answer to who is refused. */
  readonly handshakeMs: number;
  /** Milliseconds in which nothing moves, on either side. */
  readonly idleMs: number;
  /** Milliseconds for one request, its answer included. */
  readonly requestMs: number;
  /** Milliseconds between two looks at headers that are not complete: a header's deadline is late by up to this. */
  readonly checkMs: number;
}

export const DEADLINES: Deadlines = {
  handshakeMs: limits.egressHandshakeMs,
  idleMs: limits.egressIdleMs,
  requestMs: limits.egressRequestMs,
  checkMs: 1_000,
};
