/** One scripted run over the gateway's HTTP interface, from intent to landed commit, with its records. */
import type { Stack } from "../e2e/support/stack.ts";

export interface SeenRecord {
  readonly type: string;
  readonly at: string;
  readonly body: { readonly [key: string]: unknown };
}

export interface LandedRun {
  readonly runId: string;
  readonly seconds: number;
  /** When the answer to the start was here, in ms since 1970. */
  readonly acceptedAtMs: number;
  readonly records: readonly SeenRecord[];
}

/** @throws when the run ends without a landing */
export async function landedRun(
  stack: Stack,
  inputs: Readonly<Record<string, unknown>>,
  constraints: Readonly<Record<string, unknown>> = {},
): Promise<LandedRun> {
  const started = performance.now();
  const intent = { goal: "Make add add", inputs, constraints };
  const { body } = await stack.http("POST", "/intents", intent);
  const accepted = await stack.http("POST", `/intents/${String(body["intentId"])}/run`);
  const acceptedAtMs = Date.now();
  const runId = String(accepted.body["runId"]);
  const records = await untilLanded(stack, runId);
  return { runId, seconds: (performance.now() - started) / 1000, acceptedAtMs, records };
}

/** The run's records as they arrive, up to its landing; a run that closes without one did not land. */
async function untilLanded(stack: Stack, runId: string): Promise<SeenRecord[]> {
  const answer = await fetch(`${stack.ready.gateway}/runs/${runId}/events`);
  const records: SeenRecord[] = [];
  const decoder = new TextDecoder();
  let rest = "";
  for await (const part of answer.body ?? []) {
    const lines = (rest + decoder.decode(part as Uint8Array, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines.filter((text) => text.startsWith("data: {"))) {
      records.push(JSON.parse(line.slice("data: ".length)) as SeenRecord);
    }
    if (records.some(({ type }) => type === "landing")) return records;
  }
  throw new Error(`${runId} did not land: ${JSON.stringify(records.at(-1)?.body)}`);
}
