import { limits, type EnvironmentReport } from "@antiphon/contracts";
import { expect, test } from "vitest";
import { afterUse, nextMove, surplus, type EnvironmentRecord } from "./environment-record.ts";

const report: EnvironmentReport = {
  key: "ab".repeat(32),
  image: "sha256:1",
  commands: ["npm ci"],
  found: [],
  decided_by: [],
  cached: false,
  duration_ms: 1,
  layer: null,
  bytes: 0,
  files: 0,
  log: null,
  packages: null,
  egress: null,
};
const building: EnvironmentRecord = { state: "building", holder: "a", beat: 1 };
const failed: EnvironmentRecord = { state: "failed", report, message: "npm ci exited 1" };
const layer = { bucket: "ANT_LAYERS", name: "x", digest: "sha256-x", bytes: 1 };
const ready = { state: "ready", layer, report, used_at: 1_000 } as const;

test("an environment is built by whoever finds none, and by nobody else while the builder works", () => {
  expect(nextMove(null, 0, false)).toBe("build");
  expect(nextMove(building, limits.sandboxSilenceMs, false)).toBe("wait");
  expect(nextMove(ready, 1e9, true)).toBe("use");
});

test("a builder that went silent is replaced", () => {
  expect(nextMove(building, limits.sandboxSilenceMs + 1, false)).toBe("build");
});

test("an environment that could not be prepared is refused until a person asks for it again", () => {
  expect(nextMove(failed, 1e9, false)).toBe("refuse");
  expect(nextMove(failed, 0, true)).toBe("build");
});

test("a use is noted once an hour at most", () => {
  expect(afterUse(ready, 1_000 + 3_599_999)).toBeNull();
  expect(afterUse(ready, 1_000 + 3_600_000)).toMatchObject({ used_at: 3_601_000 });
});

test("unused environments go first, then the least recently used ones over the bound", () => {
  const now = limits.environmentKeepS * 1000 + 100;
  const kept = [
    { key: "old", bytes: 1, usedAt: 99 },
    { key: "newest", bytes: 40, usedAt: 300 },
    { key: "older", bytes: 40, usedAt: 200 },
    { key: "oldest", bytes: 40, usedAt: 101 },
  ];
  expect(surplus(kept, now, 80)).toEqual(["old", "oldest"]);
  expect(surplus(kept, now, 1000)).toEqual(["old"]);
});
