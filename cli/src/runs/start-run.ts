// Starts a run. Each request carries a key of its own, so that one whose answer was lost is not carried out twice.
import { randomUUID } from "node:crypto";
import type { PostAnswer, PostBody } from "@antiphon/client";
import type { Intent } from "@antiphon/contracts";
import type { GatewayClient } from "../gateway/gateway-client.ts";

/** `recording`: a recorded session that the agent replays; null: none. Returns the id of the run. */
export async function startRun(
  gateway: GatewayClient,
  intent: Intent,
  recording: PostBody<"/recordings"> | null,
): Promise<string> {
  return (await startedRun(gateway, intent, recording)).runId;
}

/** The whole answer. */
export async function startedRun(
  gateway: GatewayClient,
  intent: Intent,
  recording: PostBody<"/recordings"> | null,
): Promise<PostAnswer<"/intents/{id}/run">> {
  if (recording !== null) await gateway.postOnce("/recordings", {}, recording, randomUUID());
  const { intentId } = await gateway.postOnce("/intents", {}, intent, randomUUID());
  const started = { id: intentId };
  return gateway.postOnce("/intents/{id}/run", started, undefined, randomUUID());
}
