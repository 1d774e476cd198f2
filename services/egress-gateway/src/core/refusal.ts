/** What a sandbox may not do, by code and in words: becomes the body of a 4xx answer and a line of the log. */
import type { ErrorCode } from "@antiphon/contracts";

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
