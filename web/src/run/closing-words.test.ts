import type { RunViewModel } from "@antiphon/contracts";
import type { RunFacts } from "@antiphon/run/facts/run-facts";
import { expect, test } from "vitest";
import { closingWords } from "./closing-words.ts";

const words = (code: string | null, message: string, ...steps: (string | null)[]): string | null =>
  closingWords(
    { closed: { code, message } } as Pick<RunFacts, "closed">,
    { steps: steps.map((one) => ({ message: one })) } as RunViewModel,
  );

test("a run that was canceled says by whom and why, also beside what an attempt said", () => {
  const lost = "canceled by ann: run_b succeeded first";
  expect(words("ANT_RUN_CANCELED", lost, null)).toBe(lost);
  expect(words("ANT_RUN_CANCELED", lost, "`npm test` exited 1")).toBe(lost);
});

test("a run that failed with a task leaves the reason to the task", () => {
  expect(words("ANT_VERIFY_CHECK_FAILED", "T-001 `make` exited 1\nbad", "`make` exited 1\nbad")).toBeNull();
});

test("a run that is open or succeeded says nothing", () => {
  expect(words(null, "")).toBeNull();
  expect(words(null, "all landed")).toBeNull();
  expect(closingWords({ closed: null }, { steps: [] } as unknown as RunViewModel)).toBeNull();
});
