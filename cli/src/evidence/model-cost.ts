// What the model calls of a run were charged: the sum over the reports of the egress gateway in its evidence.
import type { EgressReport } from "@antiphon/contracts";
import type { GatewayClient } from "../gateway/gateway-client.ts";
import { Failure } from "../failure.ts";
import type { Screen } from "../screen/screen.ts";
import type { RunSummary } from "../runs/summary.ts";
import { filePath } from "./evidence-view.ts";

const REPORT = "egress/summary.json";

export interface ModelCost {
  readonly calls: number;
  readonly tokens: number;
  readonly usdMicro: number;
  /** Attempts that left evidence. */
  readonly attempts: number;
}

export async function modelCost(gateway: GatewayClient, id: string): Promise<ModelCost> {
  const { bundles } = await gateway.get("/runs/{id}/evidence", { id });
  const attempts = bundles.filter(({ kind }) => kind === "attempt");
  const metered = attempts.filter(({ manifest }) => manifest.files.some(({ path }) => path === REPORT));
  const reports = await Promise.all(
    metered.map(async ({ taskId, epoch }) => {
      const content = await gateway.bytes(filePath(id, taskId, epoch, REPORT, false));
      return JSON.parse(content.toString("utf8")) as EgressReport;
    }),
  );
  const sum = (of: (report: EgressReport) => number): number =>
    reports.reduce((total, report) => total + of(report), 0);
  return {
    calls: sum((report) => report.model_calls),
    tokens: sum((report) => report.model_tokens),
    usdMicro: sum((report) => report.model_usd_micro),
    attempts: attempts.length,
  };
}

/** Null: the run may call no model, or its reports cannot be read, which is said. */
export async function shownCost(
  screen: Screen,
  gateway: GatewayClient,
  { runId, modelBudget }: Pick<RunSummary, "runId" | "modelBudget">,
): Promise<ModelCost | null> {
  if (modelBudget === null) return null;
  try {
    return await modelCost(gateway, runId);
  } catch (thrown) {
    costUnread(screen, runId, thrown);
    return null;
  }
}

export function costUnread(screen: Screen, runId: string, thrown: unknown): void {
  const { code, message } = Failure.from(thrown);
  screen.err(`what ${runId} was charged cannot be read: ${code}: ${message}`);
}

export function costRows(cost: ModelCost | null): string[] {
  return cost === null ? [] : [`  model calls  ${costText(cost)}`];
}

/** `$0.0123, 4,080 tokens in 4 calls`. */
export function costText({ calls, tokens, usdMicro }: ModelCost): string {
  if (calls === 0) return "no model call";
  const count = (one: number): string => one.toLocaleString("en-US");
  const usd = (usdMicro / 1_000_000).toFixed(usdMicro < 1_000_000 ? 4 : 2);
  return `$${usd}, ${count(tokens)} tokens in ${count(calls)} ${calls === 1 ? "call" : "calls"}`;
}
