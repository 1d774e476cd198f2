/** `antiphon.v1.rpc.repo.export`: an Associate found an object gone that its dispatch names, and has it exported again. */
import { Type, type Static } from "typebox";
import { RunId, TaskId } from "../shapes/ids.ts";
import { RpcFailure } from "./repo-rpc.ts";
import { closed } from "../shapes/shape.ts";

export const RepoExportRequest = closed(
  {
    runId: RunId,
    taskId: TaskId,
    epoch: Type.Integer({ minimum: 1, description: "The attempt whose dispatch names the objects." }),
  },
  { description: "Asks for the objects of `ANT_REPOS` that a dispatch names." },
);
export type RepoExportRequest = Static<typeof RepoExportRequest>;

export const RepoExportReply = Type.Union(
  [
    closed({
      ok: Type.Literal(true),
      objects: Type.Array(Type.String({ minLength: 1, maxLength: 256 }), {
        maxItems: 8,
        description: "Their names. Each is in the object store.",
      }),
    }),
    RpcFailure,
  ],
  { description: "The objects, or why they cannot be made again." },
);
export type RepoExportReply = Static<typeof RepoExportReply>;
