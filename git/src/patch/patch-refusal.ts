/** The refusal of a patch: a code of the error table, the rule within it, the path and the line. */
import type { ErrorCode } from "@antiphon/contracts";

export type PatchCode = Extract<ErrorCode, `ANT_PATCH_${string}`>;

export interface Refusal {
  code: PatchCode;
  /** The rule within the code, for example `path.dot-git`. */
  rule: string;
  path: string | null;
  /** Line of the patch, from 1. */
  line: number | null;
  message: string;
}

/** Thrown inside the parser and the policy. Their entry points return the refusal as a value. */
export class PatchRefused extends Error {
  readonly refusal: Refusal;
  constructor(refusal: Refusal) {
    super(refusal.message);
    this.refusal = refusal;
  }
}

export function refuse(
  code: PatchCode,
  rule: string,
  message: string,
  where: { path?: string | null; line?: number | null } = {},
): never {
  throw new PatchRefused({ code, rule, message, path: where.path ?? null, line: where.line ?? null });
}
