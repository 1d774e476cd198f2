import type { StoredRecord } from "@antiphon/contracts";
import { describe, expect, it } from "vitest";
import { containerName } from "./container-labels.ts";
import { attemptNamed, isOver } from "./stale-epoch.ts";

const attempt = { runId: "run_a1", taskId: "T-001", epoch: 2 };
const record = (type: string, taskId: string | null, epoch: number): StoredRecord =>
  ({ type, taskId, epoch, at: new Date(0) }) as StoredRecord;

describe("sandbox-runner/S4: an attempt that is over", () => {
  it("is read from the name that a container got with its job", () => {
    for (const purpose of ["attempt", "verify", "base"] as const) {
      const job = { run: "run_a1", task: "T-001", epoch: 2, purpose };
      expect(attemptNamed(`/${containerName("inst-1", job, "x9k2")}`, "inst-1")).toEqual(attempt);
    }
    expect(attemptNamed(containerName("inst-1", null, "x9k2"), "inst-1")).toBeNull();
    expect(attemptNamed("somebody-elses-1-verify-x", "inst-1")).toBeNull();
  });

  it.each([
    ["is not over while it runs", [record("dispatch", "T-001", 1), record("dispatch", "T-001", 2)], false],
    ["is not over after the verdict of an earlier attempt", [record("verdict", "T-001", 1)], false],
    ["is not over after another task's verdict", [record("verdict", "T-002", 2)], false],
    ["is not over when the journal has no records of its run", [], false],
    ["is over after its verdict", [record("verdict", "T-001", 2)], true],
    ["is over after the next dispatch", [record("dispatch", "T-001", 3)], true],
    ["is over after the end of its run", [record("closed", null, 0)], true],
  ])("%s", (_, records, over) => {
    expect(isOver(attempt, records, 60_000)).toBe(over);
  });

  it("leaves its holder the time to read what it left", () => {
    const closed = [record("closed", null, 0)];
    expect([isOver(attempt, closed, 9_000), isOver(attempt, closed, 11_000)]).toEqual([false, true]);
  });
});
