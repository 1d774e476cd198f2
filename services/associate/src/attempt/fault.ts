/**
 * Tells faults of the task or agent from faults of the infrastructure. The former are reported as a failed result and count
 * as an attempt; the latter are tried again, then abandoned, and do not count.
 */
import { ERRORS, isErrorCode } from "@antiphon/contracts";
import type { ErrorCode } from "@antiphon/contracts";

/** Terminal codes for problems that only the caller can fix. They are reported, so that the caller sees them. */
const CALLERS: ReadonlySet<string> = new Set<ErrorCode>([
  "ANT_AGENT_UNKNOWN",
  "ANT_EGRESS_HOST",
  "ANT_EGRESS_MALFORMED",
  "ANT_EGRESS_ADDRESS",
  "ANT_EGRESS_UNSUPPORTED",
  "ANT_ENVIRONMENT_FAILED",
  "ANT_POLICY_REFUSED",
  "ANT_RECORDING_NOT_FOUND",
  "ANT_REPLAY_NO_RECORD",
  "ANT_SANDBOX_IMAGE_INVALID",
  "ANT_SANDBOX_IMAGE_MISSING",
  "ANT_SANDBOX_IMAGE_NOT_ALLOWED",
  "ANT_SANDBOX_IMAGE_UNUSABLE",
  "ANT_SANDBOX_PATH",
  "ANT_SANDBOX_REFUSED",
  "ANT_SERVICE_FAILED",
  "ANT_TASK_KIND_UNSUPPORTED",
]);

/** The sandbox got no network, so no command was started in it. */
const NO_NETWORK: ReadonlySet<ErrorCode> = new Set(["ANT_EGRESS_BUSY", "ANT_EGRESS_UNAVAILABLE"]);
/** No sandbox was available. */
const OUTAGES: ReadonlySet<ErrorCode> = new Set([
  ...NO_NETWORK,
  "ANT_DOCKER_UNREACHABLE",
  "ANT_SANDBOX_BUSY",
  "ANT_SANDBOX_RUNNER_LOST",
]);

export function isOwnFault(code: string): boolean {
  if (CALLERS.has(code)) return true;
  return isErrorCode(code) && ERRORS[code].disposition === "attempt";
}

export function isWithoutNetwork(code: ErrorCode): boolean {
  return NO_NETWORK.has(code);
}

export function isOutage(code: ErrorCode): boolean {
  return OUTAGES.has(code);
}

/** The delay before the next try: 250 ms, doubling, at most 5 s. */
export function retryDelayMs(attempt: number): number {
  return Math.min(5000, 250 * 2 ** Math.min(attempt, 10));
}
