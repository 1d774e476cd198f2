/** `antiphon.v1.rpc.run.restore`: puts the records of an archived run back into the journal. */
import { Type, type Static } from "typebox";
import { RestoredBody } from "../journal/archived.ts";
import { RunId } from "../shapes/ids.ts";
import { RpcFailure } from "./repo-rpc.ts";
import { closed } from "../shapes/shape.ts";

export const RunRestoreRequest = closed(
  { runId: RunId, by: RestoredBody.properties.by },
  { description: "Put the records of an archived run back into the journal." },
);
export type RunRestoreRequest = Static<typeof RunRestoreRequest>;

export const RunRestoreReply = Type.Union(
  [
    closed({
      ok: Type.Literal(true),
      runId: RunId,
      records: Type.Integer({ minimum: 0, description: "Records of the run." }),
      restored: Type.Integer({
        minimum: 0,
        description: "How many of them were put back; 0: they were there.",
      }),
    }),
    RpcFailure,
  ],
  { description: "The restored run, or why it was left in the archive." },
);
export type RunRestoreReply = Static<typeof RunRestoreReply>;
