import { expect, test } from "vitest";
import { failureQuote } from "./failure-quote.ts";

const numbered = (count: number, word: string) =>
  Array.from({ length: count }, (_, i) => `${word} ${i}`).join("\n");

test("output that fits is quoted whole", () => {
  expect(failureQuote("  one\ntwo\n", 100)).toBe("one\ntwo");
});

test.each([
  ["node's test runner", "not ok 2 - trims"],
  ["its other reporter", "✖ trims (3 ms)"],
  ["pytest", "E   AssertionError: assert '-a-' == 'a'"],
  ["go", "--- FAIL: TestTrim (0.00s)"],
  ["cargo", "thread 'trims' panicked at src/lib.rs:3:9:"],
  ["an exception", "java.lang.IllegalStateException: no"],
])("a long output of %s is quoted from the line that names the failure", (_, line) => {
  const quote = failureQuote(`${numbered(50, "ok")}\n${line}\n${numbered(200, "at frame")}`, 300);
  expect(quote.split("\n")[0]).toBe(line);
  expect(quote.length).toBeLessThanOrEqual(300);
  expect(quote).toMatch(/at frame \d+$/);
});

test("a long output that names no failure is quoted from its end, in whole lines", () => {
  const quote = failureQuote(numbered(100, "line"), 40);
  expect(quote).toBe("line 95\nline 96\nline 97\nline 98\nline 99");
});

test("a line that is longer than the quote is cut", () => {
  expect(failureQuote(`Error: ${"x".repeat(500)}`, 50)).toHaveLength(50);
  expect(failureQuote("x".repeat(500), 50)).toHaveLength(50);
});
