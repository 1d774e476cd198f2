/** `antiphon.v1.rpc.run.rebuild`: rebuilds the documents of a run from the journal. */
import { Type, type Static } from "typebox";
import { RunId } from "../shapes/ids.ts";
import { RpcFailure } from "./repo-rpc.ts";
import { closed } from "../shapes/shape.ts";

export const RunRebuildRequest = closed(
  { runId: RunId },
  { description: "Rebuild the documents of a run from its records." },
);
export type RunRebuildRequest = Static<typeof RunRebuildRequest>;

export const RunRebuildReply = Type.Union(
  [
    closed({
      ok: Type.Literal(true),
      runId: RunId,
      written: Type.Array(Type.String(), {
        description:
          "`<bucket>/<key>` of each document that was missing, stale or different. Empty if all were correct.",
      }),
      restored: Type.Array(Type.String(), {
        description: "Registers whose lost landing was restored to the journal.",
      }),
      goesOn: Type.Boolean({
        description: "A landing of the run is outstanding, and its Director is working on it.",
      }),
    }),
    RpcFailure,
  ],
  { description: "The documents that were written, or why the run was left unchanged." },
);
export type RunRebuildReply = Static<typeof RunRebuildReply>;
/** The result of a rebuild. */
export type RebuiltRun = Omit<Extract<RunRebuildReply, { ok: true }>, "ok">;
