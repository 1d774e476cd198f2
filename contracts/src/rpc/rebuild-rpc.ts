/** `antiphon.v1.rpc.run.rebuild`: what people look at is made again from the journal, run by run. */
import { Type, type Static } from "typebox";
import { RunId } from "../shapes/ids.ts";
import { RpcFailure } from "./repo-rpc.ts";
import { closed } from "../shapes/shape.ts";

export const RunRebuildRequest = closed(
  { runId: RunId },
  { description: "Make the documents of a run again from its records." },
);
export type RunRebuildRequest = Static<typeof RunRebuildRequest>;

export const RunRebuildReply = Type.Union(
  [
    closed({
      ok: Type.Literal(true),
      runId: RunId,
      written: Type.Array(Type.String(), {
        description:
          "`<bucket>/<key>` of each document that was missing, stale or different. Empty: they are as they should be.",
      }),
      restored: Type.Array(Type.String(), {
        description: "Registers whose landing the journal had lost and has again.",
      }),
      goesOn: Type.Boolean({ description: "The run owes a landing; its Director is at it." }),
    }),
    RpcFailure,
  ],
  { description: "What was written, or why the run was left as it is." },
);
export type RunRebuildReply = Static<typeof RunRebuildReply>;
/** What a rebuild came to. */
export type RebuiltRun = Omit<Extract<RunRebuildReply, { ok: true }>, "ok">;
