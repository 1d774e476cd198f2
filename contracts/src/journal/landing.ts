/** `landing`: the one ref update of a task, or the reason why there was none. */
import { Type, type Static } from "typebox";
import { CommitId, ErrorCode } from "../shapes/ids.ts";
import { closed, nullable } from "../shapes/shape.ts";

export const Landed = closed({
  kind: Type.Literal("landed"),
  ref: Type.String({ minLength: 1, description: "`refs/heads/antiphon/<runId>`." }),
  commit: CommitId,
  previous: nullable(CommitId, { description: "The ref's previous commit; null if the ref is new." }),
});

export const LandingRefused = closed({
  kind: Type.Literal("refused"),
  code: ErrorCode,
  message: Type.String(),
});

export const LandingBody = Type.Union([Landed, LandingRefused], {
  description: "A verified commit landed or could not land. Written by the Director.",
});
export type LandingBody = Static<typeof LandingBody>;
