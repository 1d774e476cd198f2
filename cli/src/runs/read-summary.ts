// The summary of a run as its records tell it now. Decisions are verified first (decisions.ts).
import { factsOf } from "@antiphon/run/facts/facts-fold";
import type { GatewayClient } from "../gateway/gateway-client.ts";
import { openDecisions } from "./decisions.ts";
import { summarize, type RunSummary } from "./summary.ts";

/** `trusted`: thumbprints of Director keys; empty: those that the gateway trusts. */
export async function readSummary(
  gateway: GatewayClient,
  trusted: readonly string[],
  runId: string,
): Promise<RunSummary> {
  const { records } = await gateway.get("/runs/{id}/events", { id: runId });
  const decisions = openDecisions(gateway, trusted);
  for (const record of records) await decisions.check(record);
  return summarize(factsOf(records), decisions.words, Date.now());
}
