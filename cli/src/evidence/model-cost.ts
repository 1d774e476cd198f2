// What the model calls of a run were charged: the sum over the reports of the egress gateway in its evidence.
import type { EgressReport } from "@antiphon/contracts";
import type { GatewayClient } from "../gateway/gateway-client.ts";
import { Failure } from "../failure.ts";
import type { Screen } from "../screen/screen.ts";
import type { RunSummary } from "../runs/summary.ts";
import { filePath } from "./evidence-view.ts";

const REPORT = "egress/summary.json";
/** What the agent says itself. */
const SAID = "usage.json";

export interface ModelCost {
  readonly calls: number;
  readonly tokens: number;
  readonly usdMicro: number;
  /** Attempts that left evidence. */
  readonly attempts: number;
  /** The word of the agents, of the attempts in which they gave it; null: none did. */
  readonly said: Said | null;
}

interface Said {
  readonly tokens: number | null;
  readonly usd: number | null;
}

export async function modelCost(gateway: GatewayClient, id: string): Promise<ModelCost> {
  const { bundles } = await gateway.get("/runs/{id}/evidence", { id });
  const attempts = bundles.filter(({ kind }) => kind === "attempt");
  type Attempt = (typeof attempts)[number];
  const has =
    (file: string) =>
    ({ manifest }: Attempt): boolean =>
      manifest.files.some(({ path }) => path === file);
  const read =
    <T>(file: string) =>
    async ({ taskId, epoch }: Attempt): Promise<T> =>
      JSON.parse((await gateway.bytes(filePath(id, taskId, epoch, file, false))).toString("utf8")) as T;
  const reports = await Promise.all(attempts.filter(has(REPORT)).map(read<EgressReport>(REPORT)));
  const sum = (of: (report: EgressReport) => number): number =>
    reports.reduce((total, report) => total + of(report), 0);
  return {
    calls: sum((report) => report.model_calls),
    tokens: sum((report) => report.model_tokens),
    usdMicro: sum((report) => report.model_usd_micro),
    attempts: attempts.length,
    said: added(await Promise.all(attempts.filter(has(SAID)).map(read<Said>(SAID)))),
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
  if (cost === null) return [];
  return [
    `  model calls  ${costText(cost)}${cost.said === null ? "" : `, metered; the agent says ${saidText(cost.said)}`}`,
  ];
}

function saidText({ tokens, usd }: Said): string {
  return [
    ...(usd === null ? [] : [`$${usd.toFixed(usd < 1 ? 4 : 2)}`]),
    ...(tokens === null ? [] : [`${tokens.toLocaleString("en-US")} tokens`]),
  ].join(", ");
}

function added(all: readonly Said[]): Said | null {
  const sum = (numbers: readonly (number | null)[]): number | null => {
    const known = numbers.filter((one) => one !== null);
    return known.length === 0 ? null : known.reduce((total, one) => total + one, 0);
  };
  const said = { tokens: sum(all.map(({ tokens }) => tokens)), usd: sum(all.map(({ usd }) => usd)) };
  return said.tokens === null && said.usd === null ? null : said;
}

/** `$0.0123, 4,080 tokens in 4 calls`. */
export function costText({ calls, tokens, usdMicro }: ModelCost): string {
  if (calls === 0) return "no model call";
  const count = (one: number): string => one.toLocaleString("en-US");
  const usd = (usdMicro / 1_000_000).toFixed(usdMicro < 1_000_000 ? 4 : 2);
  return `$${usd}, ${count(tokens)} tokens in ${count(calls)} ${calls === 1 ? "call" : "calls"}`;
}
