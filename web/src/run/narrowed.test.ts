import type { IntentBody } from "@antiphon/contracts";
import { expect, test } from "vitest";
import { narrowedSentence } from "./narrowed.ts";

test("a run whose budgets the policy has narrowed says so in one sentence, and any other says nothing", () => {
  const narrowed: IntentBody["narrowed"] = [
    { budget: "max_attempts", was: 5, is: 2 },
    { budget: "time_budget_s", was: 900, is: 300 },
  ];
  const body = (more: Partial<IntentBody>): IntentBody => more as IntentBody;
  expect(narrowedSentence(body({ retry_of: "run_a", narrowed }))).toBe(
    "The policy allows this run less than run_a: max_attempts is 2 instead of 5, time_budget_s is 300 instead of 900.",
  );
  expect(narrowedSentence(body({ narrowed: narrowed.slice(0, 1) }))).toBe(
    "The policy allows this run less than the run that it forks: max_attempts is 2 instead of 5.",
  );
  expect(narrowedSentence(body({ retry_of: "run_a" }))).toBeNull();
});
