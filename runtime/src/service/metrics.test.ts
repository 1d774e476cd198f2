import perfHooks from "node:perf_hooks";
import { expect, test, vi } from "vitest";
import { readingsBy } from "./meter.ts";
import { openMetrics } from "./metrics.ts";

const linesOf = async (metrics: Awaited<ReturnType<typeof openMetrics>>, name: string): Promise<string[]> =>
  (await metrics.scrape()).text.split("\n").filter((line) => line.startsWith(name));

test("counts by labels, and serves nothing that was never counted", async () => {
  const metrics = await openMetrics("director");
  metrics.count("antiphon_verdicts_total", { verdict: "PASS", code: "none" });
  metrics.count("antiphon_verdicts_total", { verdict: "PASS", code: "none" });
  metrics.count("antiphon_verdicts_total", { verdict: "FAIL", code: "ANT_VERIFY_FAILED" });
  expect(await linesOf(metrics, "antiphon_verdicts_total")).toEqual([
    'antiphon_verdicts_total{verdict="PASS",code="none",service="director"} 2',
    'antiphon_verdicts_total{verdict="FAIL",code="ANT_VERIFY_FAILED",service="director"} 1',
  ]);
  expect(await linesOf(metrics, "antiphon_runs_total")).toEqual([]);
});

test("keeps durations in the buckets of the table; a clock that ran backwards counts as no time", async () => {
  const metrics = await openMetrics("director");
  metrics.observe("antiphon_queue_wait_seconds", { agent: "scripted" }, 0.3);
  metrics.observe("antiphon_queue_wait_seconds", { agent: "scripted" }, -1);
  const lines = await linesOf(metrics, "antiphon_queue_wait_seconds");
  const value = (le: string) =>
    lines
      .find((line) => line.includes(`le="${le}"`))
      ?.split(" ")
      .at(-1);
  expect([value("0.25"), value("0.5"), value("3600"), value("+Inf")]).toEqual(["1", "2", "2", "2"]);
});

test("reads states and totals at each scrape, so a state that is gone is not served", async () => {
  const metrics = await openMetrics("runner");
  let pool: Record<string, number> = { ready: 3, leased: 1 };
  let warm = 2;
  metrics.read("antiphon_sandbox_pool", () => readingsBy("state", pool));
  metrics.read("antiphon_sandbox_taken_total", () => readingsBy("state", { warm }));
  const scrape = async () => [
    ...(await linesOf(metrics, "antiphon_sandbox_pool{")),
    ...(await linesOf(metrics, "antiphon_sandbox_taken_total{")),
  ];
  expect(await scrape()).toEqual([
    'antiphon_sandbox_pool{state="ready",service="runner"} 3',
    'antiphon_sandbox_pool{state="leased",service="runner"} 1',
    'antiphon_sandbox_taken_total{state="warm",service="runner"} 2',
  ]);
  pool = { leased: 2 };
  warm = 5;
  expect(await scrape()).toEqual([
    'antiphon_sandbox_pool{state="leased",service="runner"} 2',
    'antiphon_sandbox_taken_total{state="warm",service="runner"} 5',
  ]);
});

test("leaves a metric out while it cannot be read, rather than serve 0 or an old number", async () => {
  const metrics = await openMetrics("gateway");
  let isUp = true;
  metrics.read("antiphon_dead_letters", () =>
    isUp ? Promise.resolve([{ labels: {}, value: 4 }]) : Promise.reject(new Error("no server")),
  );
  expect(await linesOf(metrics, "antiphon_dead_letters")).toEqual([
    'antiphon_dead_letters{service="gateway"} 4',
  ]);
  isUp = false;
  expect(await linesOf(metrics, "antiphon_dead_letters")).toEqual([]);
});

test("watches the event loop, which wakes the process a hundred times a second, only from the first scrape on", async () => {
  const watching = vi.spyOn(perfHooks, "monitorEventLoopDelay");
  try {
    const metrics = await openMetrics("gateway");
    metrics.count("antiphon_verdicts_total", { verdict: "PASS", code: "none" });
    expect(watching).not.toHaveBeenCalled();
    for (let scrapes = 0; scrapes < 2; scrapes += 1)
      expect(await linesOf(metrics, "nodejs_eventloop_lag_max_seconds")).toHaveLength(1);
    expect(watching).toHaveBeenCalledTimes(1);
  } finally {
    watching.mockRestore();
  }
});
