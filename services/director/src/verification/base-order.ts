/** What is asked of the base ahead of a verification, and by whom. Pure. */
import { canonicalJson, sha256Hex } from "@antiphon/contracts";
import type { RoomRequest } from "../ports.ts";

/** The request for the base, and whose it is. */
export interface BaseOrder {
  readonly tenant: string;
  readonly request: RoomRequest;
}

/** director/D5: everything in a request that decides its outcome. */
export function keyOf({ tenant, request }: BaseOrder): string {
  const { tree, history, checks, image, room, budgetMs, setup } = request;
  return sha256Hex(canonicalJson({ tenant, tree, history, checks, image, room, budgetMs, setup }));
}

/** The task that asks, or the integration of its run. */
export const holderOf = ({ run, task }: RoomRequest): string => `${run} ${task ?? ""}`;

export const isHolderOf = (holder: string, runId: string): boolean => holder.startsWith(`${runId} `);
