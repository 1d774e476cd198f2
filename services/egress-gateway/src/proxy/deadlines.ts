/** The deadlines of a sandbox's connection. They are passed as an object, so that tests can use short ones. */
import { limits } from "@antiphon/contracts";

export interface Deadlines {
  /** Milliseconds for each of: the token, a request's header, a TLS hello, and taking a refusal. */
  readonly handshakeMs: number;
  /** Milliseconds without a byte, on either side. */
  readonly idleMs: number;
  /** Milliseconds for one request with its answer. */
  readonly requestMs: number;
  /** Milliseconds between two checks for late headers; a header's deadline takes effect up to this much later. */
  readonly checkMs: number;
}

export const DEADLINES: Deadlines = {
  handshakeMs: limits.egressHandshakeMs,
  idleMs: limits.egressIdleMs,
  requestMs: limits.egressRequestMs,
  checkMs: 1_000,
};
