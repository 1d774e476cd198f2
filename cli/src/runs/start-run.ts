// Starts a run. Each request carries a key of its own, so that one whose answer was lost is not carried out twice.
import { randomUUID } from "node:crypto";
import type { Intent } from "@antiphon/contracts";
import type { GatewayClient } from "../gateway/gateway-client.ts";

/** `recording`: a recorded session that the agent replays; null: none. Returns the id of the run. */
export async function startRun(gateway: GatewayClient, intent: Intent, recording: unknown): Promise<string> {
  if (recording !== null) await gateway.postOnce("/recordings", recording, randomUUID());
  const { intentId } = await gateway.postOnce<{ intentId: string }>("/intents", intent, randomUUID());
  const path = `/intents/${intentId}/run`;
  const { runId } = await gateway.postOnce<{ runId: string }>(path, undefined, randomUUID());
  return runId;
}
