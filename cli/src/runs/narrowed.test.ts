import { expect, test } from "vitest";
import { narrowedText } from "./narrowed.ts";

test("a retry names each budget that the policy has narrowed, and nothing if it has narrowed none", () => {
  const narrowed = [
    { budget: "max_attempts", was: 9, is: 2 },
    { budget: "model_usd_micro", was: 2_000_000, is: 5 },
  ];
  expect(narrowedText(narrowed)).toBe(
    "the policy allows less than then: max_attempts 2 instead of 9, model_usd_micro 5 instead of 2000000",
  );
  expect([narrowedText(), narrowedText([])]).toEqual([null, null]);
});
