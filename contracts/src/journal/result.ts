/**
 * `result`: how an attempt ended, from the Associates' side. Each (run, task, epoch) has one register: a report, a
 * `lapsed` observation and an `abandoned` notice compete for it, so a late report of a former holder is refused.
 */
import { Type, type Static } from "typebox";
import { limits } from "../limits.ts";
import { AssociateId, ErrorCode } from "../shapes/ids.ts";
import { BlobRef, EvidenceRef } from "../shapes/refs.ts";
import { closed, nullable } from "../shapes/shape.ts";
import { AssociateResult } from "../seeds/associate-result.ts";

export const ReportedResult = closed(
  {
    kind: Type.Literal("reported"),
    associate: AssociateId,
    result: AssociateResult,
    code: nullable(ErrorCode, { description: "Why the attempt failed; null if it did not." }),
    evidence: EvidenceRef,
    patch: nullable(BlobRef, { description: "diff.patch; null if nothing changed." }),
    artifacts: Type.Optional(
      Type.Array(closed({ path: Type.String({ minLength: 1, maxLength: 1024 }), blob: BlobRef }), {
        maxItems: 256,
        description: "The files of `return.artifacts` that a task without changes wrote.",
      }),
    ),
    heard: Type.Optional(
      Type.Array(
        closed({
          message: Type.Integer({ minimum: 1, description: "Its number in the run." }),
          look: Type.Integer({
            minimum: 0,
            description: "Which of the attempt's looks at its inbox gave it, from 1; 0: its brief did.",
          }),
        }),
        { maxItems: limits.runMessages, description: "The messages of people that the attempt was given." },
      ),
    ),
  },
  { description: "The holder's own report." },
);

export const LapsedResult = closed(
  {
    kind: Type.Literal("lapsed"),
    observer: AssociateId,
    holder: Type.String({ minLength: 1, description: "The Associate that stopped sending heartbeats." }),
  },
  {
    description:
      "The lease of the claim expired. Recorded by another Associate, or by the Director at the deadline.",
  },
);

export const AbandonedResult = closed(
  {
    kind: Type.Literal("abandoned"),
    associate: AssociateId,
    code: ErrorCode,
    message: Type.String(),
    outage: Type.Optional(
      Type.Literal(true, {
        description: "No sandbox was available, so nothing of the task ran.",
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
