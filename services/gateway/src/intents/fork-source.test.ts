import { RecordLog, planned } from "@antiphon/run/testing/record-log";
import { expect, test } from "vitest";
import { checkSource, sourcesOf } from "./fork-source.ts";

const log = new RecordLog().opened([planned("T-001")]);
const source = log.records;
const fork = { run: log.runId, task: "T-001", epoch: 1, calls: 0, feedback: [] };
const repo = { name: "app", path: "/repo" };
const of = { path: "/inputs/fork/run", run: log.runId };

test("a run may fork one run and do the task of another one again", () => {
  expect(sourcesOf({})).toEqual([]);
  expect(sourcesOf({ fork, again_of: "run_b" })).toEqual([of, { path: "/inputs/again_of", run: "run_b" }]);
});

test("a run of the same repository and tenant can be forked and done again", () => {
  expect(() => checkSource(of, { repo }, source)).not.toThrow();
});

test("a run of another repository or tenant is unknown, as one that is not there", () => {
  expect(() => checkSource(of, { repo: { ...repo, path: "/other" } }, source)).toThrow("has no run");
  expect(() => checkSource(of, { repo, tenant: "b" }, source)).toThrow("has no run");
  expect(() => checkSource(of, { repo }, [])).toThrow("has no run");
});

test("who chose the proof of the forked run is known from its records, and who chose that of the run before it", () => {
  const asks = [{ question: "Which?", tasks: ["T-001"] }];
  const asked = new RecordLog().opened([planned("T-001")]);
  asked.judged("T-001", 1, {
    verdict: "UNVERIFIABLE",
    code: "ANT_VERIFY_NO_CHECK",
    commit: null,
    tree: null,
    asks,
  });
  asked.add("input", "T-001", 1, { event: "answer", answers: ["make test"], by: "ann", instructs: true });
  expect(checkSource(of, { repo }, asked.records)).toEqual(["ann"]);
  const [first, ...rest] = asked.records;
  if (first?.type !== "intent") throw new Error("no intent");
  const again = { ...first, body: { ...first.body, asked_by: ["ben", "ann"] } };
  expect(checkSource(of, { repo }, [again, ...rest])).toEqual(["ben", "ann"]);
  expect(checkSource(of, { repo }, source)).toEqual([]);
});
