import { expect, test } from "vitest";
import { urlOf } from "@antiphon/client";
import type { GatewayClient } from "../gateway/gateway-client.ts";
import type { RunLine } from "./run-lines.ts";
import { listRuns } from "./run-pages.ts";

const ANY = { status: null, repo: null, since: null };
const RUNS = Array.from({ length: 2_500 }, (_, at) => ({
  runId: `run_${at}`,
  status: at % 500 === 499 ? "failed" : "succeeded",
})) as unknown as RunLine[];

/** A gateway with these runs, and what it was asked. */
function gateway() {
  const asked: string[] = [];
  const get = (...[path, params]: ["/runs", { cursor?: string; limit: number }]): Promise<unknown> => {
    asked.push(urlOf(path, params));
    const [from, { limit }] = [Number(params.cursor ?? 0), params];
    const next = from + limit >= RUNS.length ? null : String(from + limit);
    return Promise.resolve({ runs: RUNS.slice(from, from + limit), next });
  };
  return { asked, get: get as GatewayClient["get"] };
}

test("a short list costs one small request", async () => {
  const { asked, get } = gateway();
  const listed = await listRuns({ get }, ANY, 20);
  expect([listed.runs.length, listed.goesOn]).toEqual([20, true]);
  expect(asked).toEqual(["/runs?limit=21"]);
});

test("a long list, and the list of all runs, take as many pages as they need and repeat none", async () => {
  for (const limit of [2_000, 2_500, Number.POSITIVE_INFINITY]) {
    const { get } = gateway();
    const listed = await listRuns({ get }, ANY, limit);
    expect(listed).toEqual({ runs: RUNS.slice(0, limit), goesOn: limit < RUNS.length });
  }
});

test("a filter looks at as many runs as it takes to find those that match", async () => {
  const { asked, get } = gateway();
  const listed = await listRuns({ get }, { ...ANY, status: "failed" }, 3);
  expect(listed.runs.map(({ runId }) => runId)).toEqual(["run_499", "run_999", "run_1499"]);
  expect([listed.goesOn, asked.length]).toEqual([true, 2]);
});
