/**
 * An attempt that is carried out once more: `POST /runs/<id>/replay` at the gateway, and `antiphon.v1.rpc.attempt.replay`, by
 * which the gateway asks an Associate. The model's answers come from the record. Nothing of it is in the journal, and no
 * ref moves.
 */
import { Type, type Static } from "typebox";
import { Digest, ErrorCode, RunId, TaskId } from "../shapes/ids.ts";
import { closed, nullable, oneOf } from "../shapes/shape.ts";

const epoch = Type.Integer({ minimum: 1, description: "The attempt." });
/** Absent: the name that the run recorded. */
const image = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 512,
    description: "Another sandbox image, from the allowlist. Default: the one of the run.",
  }),
);

export const ReplayRequest = closed(
  { task: TaskId, epoch, image },
  { description: "Carry out an attempt of a run once more, with the recorded answers of its model calls." },
);
export type ReplayRequest = Static<typeof ReplayRequest>;

export const AttemptReplayRequest = closed(
  {
    replayId: Type.String({ pattern: "^rpl_[a-z0-9]{1,32}$" }),
    run: RunId,
    task: TaskId,
    epoch,
    image,
  },
  { description: "The gateway asks an Associate to carry out a recorded attempt once more." },
);
export type AttemptReplayRequest = Static<typeof AttemptReplayRequest>;

export const Divergence = closed(
  {
    step: oneOf(["model-call", "command", "network", "diff", "end"], {
      description: "The kind of the first step that differs.",
    }),
    what: Type.String({ minLength: 1, description: "Which one, and how it differs." }),
  },
  { description: "The first step at which a replay left its record." },
);
export type Divergence = Static<typeof Divergence>;

const imageId = Type.String({ minLength: 1 });
const count = (description: string) => Type.Integer({ minimum: 0, description });

export const ReplayReport = closed(
  {
    replayId: AttemptReplayRequest.properties.replayId,
    run: RunId,
    task: TaskId,
    epoch,
    same: Type.Boolean({ description: "The same diff, byte for byte." }),
    recorded: nullable(Digest, { description: "The digest of the recorded diff; null: no file changed." }),
    replayed: nullable(Digest, { description: "The digest of the diff now; null: no file changed." }),
    calls: count("Recorded model calls."),
    served: count("Answers taken from the record."),
    model_tokens: count("Tokens charged for the replay."),
    divergence: nullable(Divergence, {
      description: "The first step that differs. With `same`, it did not matter. null: none.",
    }),
    code: nullable(ErrorCode, { description: "How the attempt ended now; null: it proposed a change." }),
    images: Type.Optional(
      closed(
        {
          recorded: nullable(imageId, { description: "null: no sandbox was needed." }),
          replayed: nullable(imageId, { description: "null: no sandbox was needed, or none was started." }),
        },
        { description: "The images of the two sandboxes, by their digests." },
      ),
    ),
  },
  { description: "How a replay compares with its record." },
);
export type ReplayReport = Static<typeof ReplayReport>;

export const AttemptReplayEvent = Type.Union(
  [
    closed({ kind: Type.Literal("alive") }),
    closed({ kind: Type.Literal("done"), report: ReplayReport }),
    closed({
      ok: Type.Literal(false),
      code: ErrorCode,
      message: Type.String(),
      remedy: Type.String(),
    }),
  ],
  { description: "A sign of life, the report, or why there is none." },
);
export type AttemptReplayEvent = Static<typeof AttemptReplayEvent>;
