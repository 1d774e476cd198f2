/** A refusal or fault of a sandbox's request. Its code and message go into the answer's body and a line of the log. */
import { ERRORS, type ErrorCode } from "@antiphon/contracts";
import type { LogEntry } from "./log-entry.ts";

export type EgressCode = Extract<ErrorCode, `ANT_EGRESS_${string}`>;

export class EgressRefusal extends Error {
  override readonly name = "EgressRefusal";
  readonly code: EgressCode;
  /** The rule that refused: `host:none`, `git:push`, ... */
  readonly rule: string;
  /** HTTP status of the answer. Default: that of the code. */
  readonly status: number;

  constructor(code: EgressCode, rule: string, why: string, status: number = ERRORS[code].httpStatus) {
    super(why);
    this.code = code;
    this.rule = rule;
    this.status = status;
  }
}

/** `refuse`: a rule forbids the request. `fault`: the request was allowed and failed. */
export function decisionOf(fault: EgressRefusal | null): LogEntry["decision"] {
  if (fault === null) return "allow";
  return ERRORS[fault.code].httpStatus < 500 ? "refuse" : "fault";
}
