/** Prometheus' view of a stack: what every service serves after a run that landed and one that did not. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { METRICS, METRIC_NAMES } from "@antiphon/contracts";
import { BROKEN_CALCULATOR, CHECK, FIX, makeProject, type Project } from "./support/project.ts";
import { promtoolFaults } from "../support/promtool.ts";
import { startQuickStack, type Stack } from "./support/stack.ts";

const SERVICES = ["gateway", "router", "director", "associate-1", "sandbox-runner", "egress"];

let stack: Stack;
let project: Project;
beforeAll(async () => {
  stack = await startQuickStack({ args: ["--metrics-port", "0"] });
  project = makeProject(BROKEN_CALCULATOR);
  const start = (command: string) =>
    stack.antiphon([
      ...["run", "Fix add", "--repo", project.path, "--command", command, "--check", CHECK],
      ...["--attempts", "1"],
    ]);
  expect((await start(FIX)).code).toBe(0);
  expect((await start("echo nothing > notes.txt")).code).not.toBe(0);
});
afterAll(async () => {
  project.remove();
  await stack.stop();
});

/** The port is in the service's log. */
function portOf(service: string): number {
  const log = readFileSync(join(stack.stateDir, "logs", `${service}.log`), "utf8");
  const port = /"host":"127\.0\.0\.1","port":(\d+),"msg":"serving metrics"/.exec(log)?.[1];
  if (port === undefined) throw new Error(`${service} serves no metrics: ${log.slice(-2_000)}`);
  return Number(port);
}

async function scrape(service: string): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${portOf(service)}/metrics`);
  expect(answer.headers.get("content-type")).toContain("text/plain");
  return answer.text();
}

/** The value of the series that has all these labels. */
async function valueOf(
  service: string,
  name: string,
  labels: Record<string, string> = {},
): Promise<number | null> {
  const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  const series = (await scrape(service))
    .split("\n")
    .find((line) => line.startsWith(`${name}{`) && wanted.every((one) => line.includes(one)));
  return series === undefined ? null : Number(series.split(" ").at(-1));
}

describe("metrics", () => {
  test("promtool finds every service's metrics named and described as Prometheus' conventions ask", async () => {
    expect(promtoolFaults(["check", "metrics"], "# TYPE odd_ms counter\nodd_ms 1\n")).toContain("odd_ms");
    for (const service of SERVICES)
      expect(promtoolFaults(["check", "metrics"], await scrape(service)), service).toBe("");
  });

  test("every service serves its version and its connection, and only metrics of the table", async () => {
    for (const service of SERVICES) {
      expect(await valueOf(service, "antiphon_bus_up"), service).toBe(1);
      expect(await valueOf(service, "antiphon_build_info"), service).toBe(1);
      const told = [...(await scrape(service)).matchAll(/^# TYPE (antiphon_\S+) (\S+)$/gm)];
      expect(told.length).toBeGreaterThan(4);
      for (const [, name = "", type] of told) {
        expect(METRIC_NAMES, service).toContain(name);
        expect(METRICS[name as keyof typeof METRICS].type).toBe(type);
      }
    }
  });

  test("the Director counts runs by workflow, status and agent, and verdicts by code", async () => {
    const run = { workflow: "DEBUG", agent: "scripted" };
    const at = (status: string) => valueOf("director", "antiphon_runs_total", { ...run, status });
    expect(await at("succeeded")).toBe(1);
    expect(await at("failed")).toBe(1);
    expect(await valueOf("director", "antiphon_verdicts_total", { verdict: "PASS", code: "none" })).toBe(1);
    expect(await valueOf("director", "antiphon_landings_total", { kind: "landed" })).toBe(1);
    expect(await valueOf("director", "antiphon_attempts_total", { kind: "reported" })).toBeGreaterThan(0);
  });

  test("the stages of a run are timed: waits, the attempt, the clean room, and the whole way to the landing", async () => {
    const counted = [
      "antiphon_routing_duration_seconds",
      "antiphon_queue_wait_seconds",
      "antiphon_attempt_duration_seconds",
      "antiphon_verification_duration_seconds",
      "antiphon_clean_room_duration_seconds",
      "antiphon_time_to_land_seconds",
      "antiphon_run_duration_seconds",
    ];
    for (const name of counted) expect(await valueOf("director", `${name}_count`), name).toBeGreaterThan(0);
    const landed = await valueOf("director", "antiphon_time_to_land_seconds_sum");
    expect(landed).toBeGreaterThan(0);
    expect(landed).toBeLessThan(60);
  });

  test("the sandbox-runner shows its pool, its places, its jobs and how long they waited for a sandbox", async () => {
    const jobs = { outcome: "completed", purpose: "verify" };
    expect(await valueOf("sandbox-runner", "antiphon_sandbox_jobs_total", jobs)).toBeGreaterThan(0);
    expect(await valueOf("sandbox-runner", "antiphon_sandbox_slots", { state: "used" })).not.toBeNull();
    expect(await valueOf("sandbox-runner", "antiphon_sandbox_pool", { state: "wanted" })).not.toBeNull();
    expect(await valueOf("sandbox-runner", "antiphon_sandbox_wait_seconds_count")).toBeGreaterThan(0);
  });

  test("the gateway shows the queues as the server counts them, dead letters, and its own requests", async () => {
    expect(await valueOf("gateway", "antiphon_open_runs")).toBe(0);
    expect(await valueOf("gateway", "antiphon_dead_letters")).toBe(0);
    expect(await valueOf("gateway", "antiphon_journal_records")).toBeGreaterThan(10);
    for (const consumer of ["router", "director", "associate"]) {
      expect(await valueOf("gateway", "antiphon_consumer_pending_messages", { consumer })).toBe(0);
    }
    const accepted = { method: "POST", route: "/intents/:id/run", status: "202" };
    expect(await valueOf("gateway", "antiphon_http_requests_total", accepted)).toBe(2);
    const unknown = await stack.http("GET", "/no-such-page-at-all");
    expect(unknown.status).toBe(404);
    const none = { method: "GET", route: "none", status: "404" };
    expect(await valueOf("gateway", "antiphon_http_requests_total", none)).toBe(1);
  });

  test("no id and no text of a user is in any label", async () => {
    for (const service of SERVICES) {
      const text = await scrape(service);
      expect(text).not.toMatch(/run_[a-z0-9]{10}/);
      expect(text).not.toContain(project.path);
      expect(text).not.toContain("no-such-page");
    }
  });
});
