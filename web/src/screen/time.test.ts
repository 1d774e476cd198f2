import { expect, it } from "vitest";
import { ago } from "./time.ts";

const MINUTE = 60_000;

it.each([
  [-5_000, "just now"],
  [59_999, "just now"],
  [MINUTE, "1 min ago"],
  [59.9 * MINUTE, "59 min ago"],
  [60 * MINUTE, "1 h ago"],
  [47.9 * 60 * MINUTE, "47 h ago"],
  [48 * 60 * MINUTE, "2 days ago"],
])("a run that ended %d ms ago ended %s", (ms, words) => {
  expect(ago(ms)).toBe(words);
});
