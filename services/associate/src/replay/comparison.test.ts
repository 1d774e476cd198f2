import { describe, expect, it } from "vitest";
import { compared, type Recorded, type Replayed } from "./comparison.ts";

const diffOf = (path: string, line: string): string =>
  `diff --git a/${path} b/${path}\n--- a/${path}\n+++ b/${path}\n@@ -1 +1 @@\n-old\n+${line}\n`;
const ran = (command: string, exit_code: number | null) => ({
  command,
  exit_code,
  stdout_path: null,
  stderr_path: null,
});
const THEN: Recorded = {
  diff: diffOf("a", "new"),
  artifacts: {},
  commands: [ran("agent", 0), ran("npm test", 1)],
  network: null,
};
const NOW: Replayed = { ...THEN, strayed: null, stopped: null };

describe("a replay", () => {
  it("with the same diff is the same, and keeps a difference that did not matter", () => {
    expect(compared(THEN, NOW)).toMatchObject({ same: true, divergence: null });
    const { same, recorded, replayed, divergence } = compared(THEN, { ...NOW, strayed: "call 1" });
    expect([same, recorded === replayed]).toEqual([true, true]);
    expect(divergence).toEqual({ step: "model-call", what: "call 1" });
  });

  it("names the first step that differs, in the order in which steps happen", () => {
    const differs: Replayed = {
      diff: diffOf("a", "other"),
      artifacts: {},
      commands: [ran("agent", 0), ran("npm test", 0)],
      strayed: "call 2",
      stopped: null,
    };
    expect(compared(THEN, differs).divergence).toEqual({
      step: "model-call",
      what: "call 2; in the end the change of a differs",
    });
    const quiet = { ...differs, strayed: null };
    expect(compared(THEN, quiet).divergence).toEqual({
      step: "command",
      what: "`npm test` exited 1 and now exited 0; in the end the change of a differs",
    });
    const same = { ...quiet, commands: THEN.commands };
    expect(compared({ ...THEN, network: "GET a.example/x" }, same).divergence?.step).toBe("network");
    expect(compared(THEN, same).divergence).toEqual({ step: "diff", what: "the change of a differs" });
  });

  it("that was killed says so, and not only that its diff is missing", () => {
    const killed: Replayed = { ...NOW, diff: null, stopped: "killed at the end of its time budget" };
    expect(compared(THEN, killed)).toMatchObject({
      same: false,
      replayed: null,
      divergence: { step: "end" },
    });
    const before = compared(THEN, { ...killed, commands: [] });
    expect(before.divergence).toEqual({ step: "end", what: "killed at the end of its time budget" });
    expect(compared(THEN, { ...NOW, commands: [ran("agent", 0)] }).divergence?.what).toContain("did not run");
  });

  it("names a file that only one of the two changed", () => {
    const both = { ...NOW, diff: `${THEN.diff}${diffOf("b", "new")}` };
    expect(compared(THEN, both).divergence?.what).toBe("b changed now and not then");
    expect(compared(THEN, { ...NOW, diff: null }).divergence?.what).toBe("a changed then and not now");
  });

  it("of a task that leaves files is judged by these", () => {
    const then = { ...THEN, diff: null, artifacts: { "plan.yaml": `sha256-${"a".repeat(43)}` } };
    expect(compared(then, { ...NOW, diff: null, artifacts: then.artifacts }).same).toBe(true);
    const other = { "plan.yaml": `sha256-${"b".repeat(43)}` };
    expect(compared(then, { ...NOW, diff: null, artifacts: other })).toMatchObject({
      same: false,
      divergence: { step: "diff" },
    });
  });
});
