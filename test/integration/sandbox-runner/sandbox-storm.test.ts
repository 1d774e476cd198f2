/** The storm of test/chaos/sandbox on a small scale; at full scale: npx tsx test/chaos/sandbox/main.ts. */
import { expect, test } from "vitest";
import { storm } from "../../chaos/sandbox/storm.ts";

test("sandbox-runner/S4: 60 attempts at concurrency 8 with runner and engine connections killed leave nothing behind", async () => {
  const report = await storm({ attempts: 60, concurrency: 8, seed: 7, log: () => undefined });
  console.log(JSON.stringify(report));
  expect(report.left).toEqual({ containers: 0, volumes: 0, networks: 0, directories: 0 });
  expect(report.attempts).toBe(60);
  expect(report.runnerKills + report.connectionKills).toBeGreaterThan(0);
  expect(report.outcomes["completed"] ?? 0).toBeGreaterThan(10);
}, 180_000);
