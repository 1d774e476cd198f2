/** `antiphon.v1.rpc.run.contract`: a contract of a run without stored documents, made from its records. */
import { Type, type Static } from "typebox";
import { RunId, TaskId } from "../shapes/ids.ts";
import { RpcFailure } from "./repo-rpc.ts";
import { RouterContract } from "../seeds/router-contract.ts";
import { TaskContract } from "../seeds/task-contract.ts";
import { closed } from "../shapes/shape.ts";

export const RunContractRequest = closed(
  {
    runId: RunId,
    taskId: Type.Union([TaskId, Type.Null()], {
      description: "Task of the contract; null for the Router's.",
    }),
  },
  { description: "Asks for the current contract of a run." },
);
export type RunContractRequest = Static<typeof RunContractRequest>;

export const RunContractReply = Type.Union(
  [
    closed({
      ok: Type.Literal(true),
      contract: Type.Union([RouterContract, TaskContract, Type.Null()], {
        description: "null if the run was never routed or has no such task.",
      }),
    }),
    RpcFailure,
  ],
  { description: "The contract, or why it is not available." },
);
export type RunContractReply = Static<typeof RunContractReply>;
