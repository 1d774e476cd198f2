// The change of a run that waits for people. A decision names its verdict, so that one that replaces it is not decided by
// mistake.
import type { GatewayClient } from "../gateway/gateway-client.ts";

export interface PendingChange {
  readonly task: string;
  readonly commit: string;
  readonly verdict: string;
  readonly message: string;
}

/** Null: none waits, or several do. The gateway then answers a decision with the reason. */
export async function pendingChange(
  gateway: GatewayClient,
  runId: string,
  task: string | undefined,
): Promise<PendingChange | null> {
  const { steps } = await gateway.get("/runs/{id}", { id: runId });
  const pending = steps.filter(
    (step) =>
      step.phase === "waiting_input" && // A run that was canceled has the state of that time.
      step.approval?.state === "pending" &&
      (task === undefined || step.id.toLowerCase() === task.toLowerCase()),
  );
  const [only, another] = pending;
  if (only?.approval === undefined || another !== undefined) return null;
  const { commit, verdict } = only.approval;
  return { task: only.id, commit, verdict, message: only.message ?? "" };
}
