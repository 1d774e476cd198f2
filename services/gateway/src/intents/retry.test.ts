import { AntiphonError, ERRORS, type RunOptions } from "@antiphon/contracts";
import { runOptions } from "@antiphon/contracts/testing/records";
import type { RunFacts } from "@antiphon/run";
import { expect, test } from "vitest";
import { retryable, withAnswersOf } from "./retry.ts";

const asks = [{ question: "Which?", tasks: ["T-001"] }];
/** A run with these options on record, whose question got an answer; null: it asked nothing. */
const facts = (options: RunOptions, said: string | null): RunFacts => {
  const answer = { at: "now", body: { event: "answer", answers: [said ?? ""], by: "ann" } };
  const attempts = said === null ? [] : [{ criteria: { asks, message: "Which?" }, answer }];
  return { intent: { options }, tasks: [{ attempts }] } as unknown as RunFacts;
};

test("a retry has the answer of its run as its check, and so has the retry of the retry, which asked nobody", () => {
  const named = runOptions({});
  const first = withAnswersOf(named, facts(named, "make test"));
  expect(first).toEqual({ ...named, checks: ["make test"] });
  expect(withAnswersOf(named, facts(first, null))).toEqual(first);
});

test("an answer that takes the change without proof is the option, for which the retry's own caller needs the right", () => {
  const named = runOptions({ tasks: [{ id: 1, description: "a", dependencies: [] }] });
  expect(withAnswersOf(named, facts(named, "unverified"))).toEqual({ ...named, allow_unverified: true });
});

test("a task keeps its answered check from retry to retry", () => {
  const named = runOptions({ tasks: [{ id: 1, description: "a", dependencies: [] }] });
  const first = withAnswersOf(named, facts(named, "make test"));
  expect(first.tasks).toMatchObject([{ checks: ["make test"] }]);
  expect(withAnswersOf(named, facts(first, null))).toEqual(first);
});

test("the remedy of a run that cannot be retried is for how it stands", () => {
  const remedyOf = (status: string | null): string => {
    const closed = status === null ? null : { status };
    try {
      retryable({ runId: "run_a", intent: { intentId: "i" }, closed } as unknown as RunFacts);
    } catch (error) {
      return AntiphonError.from(error).remedy;
    }
    return "none";
  };
  expect(remedyOf("succeeded")).toMatch(/new run/);
  expect(remedyOf("succeeded")).not.toMatch(/antiphon (wait|cancel)/);
  expect(remedyOf(null)).toMatch(/antiphon wait <runId>.*antiphon cancel <runId>/);
  expect(["failed", "canceled"].map(remedyOf)).toEqual(["none", "none"]);
  expect(ERRORS.ANT_RUN_CANCELED.remedy).toContain("antiphon retry <runId>");
});
