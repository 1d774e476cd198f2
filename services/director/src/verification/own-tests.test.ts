import { describe, expect, it } from "vitest";
import type { RoomOutcome } from "../ports.ts";
import { newTests } from "./own-tests.ts";
import { readTestReport } from "./reports/test-report.ts";

const OWN = { added: ["test/new.test.js"], edited: ["test/old.test.js"], sources: ["src/a.js"] };
const outcome = (...texts: string[]): RoomOutcome => ({
  trials: [],
  written: null,
  reports: texts.map((text) => readTestReport(text)),
});
/** An outcome of which is known what its checks opened. */
const opening = (read: string[], ...texts: string[]): RoomOutcome => ({
  ...outcome(...texts),
  written: { changed: [], restored: [], made: [], complete: true, read },
});
const node = (ran: number): string => `# pass ${ran}\n# fail 0`;
const GO = "ok  \tx\t0.004s";

describe("the new tests that a check runs", () => {
  it.each([
    ["are all, added or edited, if more tests run than before", outcome(node(3)), outcome(node(2)), 2],
    ["are none if as many run as before: moved, skipped or not found", outcome(node(2)), outcome(node(2)), 0],
    ["are the added ones if nothing counts them", outcome("done"), outcome("done"), 1],
    ["are the added ones if the runner counts packages", outcome(GO), outcome(GO), 1],
    [
      "are all if more tests run than before beside a check that runs none",
      outcome("lint", node(3)),
      outcome("lint", node(2)),
      2,
    ],
    [
      "are none if a test was moved beside a check that runs none",
      outcome("lint", node(2)),
      outcome("lint", node(2)),
      0,
    ],
    [
      "are none if nothing counts them and no check opens one",
      opening(["src/a.js"], "built"),
      outcome("built"),
      0,
    ],
    [
      "are those that a check opens if nothing counts them",
      opening(["src/a.js", "test/new.test.js"], "done"),
      outcome("done"),
      1,
    ],
    [
      "are the added ones if a runner reports once and not before",
      outcome(node(2)),
      outcome("no tests yet"),
      1,
    ],
    ["are the added ones if there is nothing to compare with", outcome(node(2)), null, 1],
    [
      "are counted by their names where Go names them",
      outcome(`--- PASS: TestA (0.00s)\n--- PASS: TestB (0.00s)\n${GO}`),
      outcome(`--- PASS: TestA (0.00s)\n${GO}`),
      2,
    ],
  ])("%s", (_name, change, before, count) => {
    expect(newTests(OWN, change, before)).toHaveLength(count);
  });
});
