/** What a sandbox may not do, by code and in words: becomes the body of a 4xx answer and a line of the log. */
import { ERRORS, type ErrorCode } from "@antiphon/contracts";
import type { LogEntry } from "./log-entry.ts";

export type EgressCode = Extract<ErrorCode, `ANT_EGRESS_${string}`>;

export class EgressRefusal extends Error {
  override readonly name = "EgressRefusal";
  readonly code: EgressCode;
  /** Which rule said no: `host:none`, `git:push`, ... */
  readonly rule: string;

  constructor(code: EgressCode, rule: string, why: string) {
    super(why);
    this.code = code;
    this.rule = rule;
  }
}

/** `refuse`: by a rule, for what was asked; `fault`: it was allowed, and went wrong. */
export function decisionOf(fault: EgressRefusal | null): LogEntry["decision"] {
  if (fault === null) return "allow";
  return ERRORS[fault.code].httpStatus < 500 ? "refuse" : "fault";
}
