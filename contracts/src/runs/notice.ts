/** A message of a deployment to another system: somebody is asked, or a run has ended. The request is signed. */
import { Type, type Static } from "typebox";
import { Digest, ErrorCode, RunId, TaskId } from "../shapes/ids.ts";
import { IsoTime } from "../seeds/v13-refs.ts";
import { closed, nullable, oneOf } from "../shapes/shape.ts";

export const Notice = closed(
  {
    type: oneOf(["run.approval", "run.question", "run.ended"], {
      description: "A change waits for a decision, an agent for an answer, or the run is over.",
    }),
    timestamp: IsoTime,
    data: closed({
      run: RunId,
      goal: Type.String({ maxLength: 2048 }),
      repo: Type.String(),
      requester: Type.String(),
      link: nullable(Type.String(), { description: "The run on the page, where people decide." }),
      task: Type.Optional(TaskId),
      verdict: Type.Optional(
        Type.Unsafe<Digest>({
          ...Digest,
          description: "Digest of the verdict that waits; a `HookDecision.v1` names it.",
        }),
      ),
      needed: Type.Optional(Type.Integer({ minimum: 1, description: "People who have to approve." })),
      questions: Type.Optional(Type.Array(Type.String({ maxLength: 2048 }), { maxItems: 64 })),
      status: Type.Optional(oneOf(["succeeded", "failed", "canceled"])),
      code: Type.Optional(nullable(ErrorCode)),
    }),
  },
  { description: "The body of a signed request to another system (Standard Webhooks)." },
);
export type Notice = Static<typeof Notice>;
