import { expect, test } from "vitest";
import type { RunLine } from "../api/run-record.ts";
import { otherRacers } from "./racers.ts";

const line = (runId: string, race?: string): RunLine => ({
  ...{ runId, intentId: "it_1", goal: "g", repo: "/r", status: "running", paused: false, code: null },
  ...{ startedAt: null, endedAt: null, seq: 1, ...(race === undefined ? {} : { race }) },
});

test("the others of a race are those that name it, without the run itself, the first started first", () => {
  const runs = [
    line("run_4", "race_a"),
    line("run_3", "race_b"),
    line("run_2", "race_a"),
    line("run_1"),
    line("run_0", "race_a"),
  ];
  expect(otherRacers(runs, "race_a", "run_2").map(({ runId }) => runId)).toEqual(["run_0", "run_4"]);
  expect(otherRacers([line("run_2"), line("run_1")], "race_a", "run_2")).toEqual([]);
});
