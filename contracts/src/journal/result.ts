/**
 * `result`: how an attempt ended, as seen from the Associates' side. One register per (run, task, epoch): a
 * report, a `lapsed` observation and an `abandoned` notice compete for it, so a zombie's late word is refused.
 */
import { Type, type Static } from "typebox";
import { AssociateId, ErrorCode } from "../shapes/ids.ts";
import { BlobRef, EvidenceRef } from "../shapes/refs.ts";
import { closed, nullable } from "../shapes/shape.ts";
import { AssociateResult } from "../seeds/associate-result.ts";

export const ReportedResult = closed(
  {
    kind: Type.Literal("reported"),
    associate: AssociateId,
    result: AssociateResult,
    code: nullable(ErrorCode, { description: "Why the attempt failed; null when it did not." }),
    evidence: EvidenceRef,
    patch: nullable(BlobRef, { description: "diff.patch; null when nothing changed." }),
  },
  { description: "The holder's own report." },
);

export const LapsedResult = closed(
  {
    kind: Type.Literal("lapsed"),
    observer: AssociateId,
    holder: Type.String({ minLength: 1, description: "Whose claim went silent." }),
  },
  { description: "The dispatch was delivered again while somebody else held the claim." },
);

export const AbandonedResult = closed(
  {
    kind: Type.Literal("abandoned"),
    associate: AssociateId,
    code: ErrorCode,
    message: Type.String(),
    outage: Type.Optional(
      Type.Literal(true, {
        description: "No sandbox was to be had, so nothing of the task ever ran.",
      }),
    ),
  },
  {
    description:
      "Infrastructure failed. Not counted as an attempt; bounded by limits.maxLapses, or for `outage` by limits.maxOutages.",
  },
);

export const ResultBody = Type.Union([ReportedResult, LapsedResult, AbandonedResult], {
  description: "How an attempt ended. Written by an Associate.",
});
export type ResultBody = Static<typeof ResultBody>;
