import type { EgressReport, EnvironmentReport } from "@antiphon/contracts";
import { expect, test } from "vitest";
import { EnvironmentFailed } from "./environment-failed.ts";

const egress = (more: Partial<EgressReport>): EgressReport => ({
  ...{ log: null, requests: 3, refused: 0, bytes_up: 0, bytes_down: 0, recordings: [] },
  ...{ model_calls: 0, model_tokens: 0, model_usd_micro: 0, ...more },
});

const report = (of: EgressReport | null): EnvironmentReport => ({
  ...{ key: "k", image: "i", commands: ["npm ci"], found: [], decided_by: [], packages: null },
  ...{ layer: null, bytes: 0, files: 0, duration_ms: 1, cached: false, log: null, egress: of },
});

test.each([
  [
    "a refused download",
    report(egress({ refused: 1, first_refused: "ANT_EGRESS_HOST a.example" })),
    /^Have the operator/,
  ],
  ["a download that failed", report(egress({ first_failed: "ANT_EGRESS_UPSTREAM b.example" })), /^Try again/],
  ["a command that failed", report(egress({})), /^Correct the `setup`/],
  ["a setup without downloads", report(null), /^Correct the `setup`/],
  ["a setup of which nothing is known", null, /^Correct the `setup`/],
])("the remedy of %s begins with what fits", (_what, of, remedy) => {
  expect(new EnvironmentFailed("setup: npm ci: exit code 1", of).remedy).toMatch(remedy);
});
