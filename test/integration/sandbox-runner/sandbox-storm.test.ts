/** The storm of test/chaos/sandbox on a small scale; at full scale: npx tsx test/chaos/sandbox/main.ts. */
import { expect, test } from "vitest";
import { storm } from "../../chaos/sandbox/storm.ts";
import { sized } from "../../support/night.ts";
import { patient } from "../../support/patience.ts";

const ATTEMPTS = sized(30, 60);

test(
  "sandbox-runner/S4: many attempts at concurrency 8 with runner and engine connections killed leave nothing behind",
  async () => {
    const report = await storm({ attempts: ATTEMPTS, concurrency: 8, seed: 7, log: () => undefined });
    console.log(JSON.stringify(report));
    expect(report.left).toEqual({ containers: 0, volumes: 0, networks: 0, directories: 0 });
    expect(report.attempts).toBe(ATTEMPTS);
    expect(report.runnerKills + report.connectionKills).toBeGreaterThan(0);
    expect(report.outcomes["completed"] ?? 0).toBeGreaterThan(ATTEMPTS / 6);
  },
  patient(180_000),
);
