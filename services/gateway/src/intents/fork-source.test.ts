import type { StoredRecord } from "@antiphon/contracts";
import { RecordLog, planned } from "@antiphon/run/testing/record-log";
import { expect, test } from "vitest";
import { checkFork } from "./fork-source.ts";

const log = new RecordLog().opened([planned("T-001")]);
const source = log.records[0] as StoredRecord;
const fork = { run: log.runId, task: "T-001", epoch: 1, calls: 0, feedback: [] };
const repo = { name: "app", path: "/repo" };

test("a run of the same repository and tenant can be forked", () => {
  expect(() => checkFork({ fork }, repo, source)).not.toThrow();
  expect(() => checkFork({}, repo, null)).not.toThrow();
});

test("a run of another repository or tenant is unknown, as one that is not there", () => {
  expect(() => checkFork({ fork }, { ...repo, path: "/other" }, source)).toThrow("has no run");
  expect(() => checkFork({ fork, tenant: "b" }, repo, source)).toThrow("has no run");
  expect(() => checkFork({ fork }, repo, null)).toThrow("has no run");
});
