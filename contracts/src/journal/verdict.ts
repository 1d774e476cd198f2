/** `verdict`: what the clean room found. The Associate's own word is never an input. */
import { Type, type Static } from "typebox";
import { CheckOutcome } from "./check-outcome.ts";
import { CommitId, ErrorCode } from "../shapes/ids.ts";
import { EvidenceRef } from "../shapes/refs.ts";
import { closed, nullable, oneOf } from "../shapes/shape.ts";

export const Verdict = oneOf(["PASS", "FAIL", "FLAKY", "UNVERIFIABLE"]);
export type Verdict = Static<typeof Verdict>;

export const Proves = oneOf(["nothing", "regression", "fail-to-pass"], {
  description:
    "What passing checks say of the change. `fail-to-pass`: they fail without it. `regression`: they pass with it, and were not tried without it. `nothing`: there are none, or they pass without it too.",
});
export type Proves = Static<typeof Proves>;

export const VerdictBody = closed(
  {
    verdict: Verdict,
    code: nullable(ErrorCode, {
      description: "Why not PASS, or what a grant overrode; null on a plain PASS.",
    }),
    message: Type.String(),
    proves: Type.Optional(Proves),
    checks: Type.Array(CheckOutcome, { description: "Base plus patch." }),
    baseChecks: Type.Array(CheckOutcome, { description: "Base alone (fail-to-pass, V2)." }),
    head: CommitId,
    commit: nullable(CommitId, { description: "The commit the Director built; null when it built none." }),
    tree: nullable(CommitId),
    evidence: nullable(EvidenceRef),
  },
  { description: "What the clean room found. Written by the Director." },
);
export type VerdictBody = Static<typeof VerdictBody>;
