import { expect, it } from "vitest";
import { failingSections } from "./failing-sections.ts";

const passed = (from: number, count: number): string[] =>
  Array.from({ length: count }, (_, i) => `ok ${from + i} - a test that passes`);

it("keeps the first failure with its surroundings, and the end", () => {
  const output = [
    ...passed(1, 400),
    "not ok 401 - parses a date",
    "  expected: 3",
    "  actual: 2",
    ...passed(402, 400),
    "# 0 failed to load",
    "# done",
  ].join("\n");
  const told = failingSections(output, 2000);
  expect(told).toContain(
    "ok 400 - a test that passes\nnot ok 401 - parses a date\n  expected: 3\n  actual: 2",
  );
  expect(told.startsWith("[...]\nok 399 ")).toBe(true);
  expect(told.endsWith("# 0 failed to load\n# done")).toBe(true);
  expect(told.length).toBeLessThan(2100);
});

it("is the whole output if that fits, and only its end if nothing names a failure", () => {
  expect(failingSections("one\ntwo", 100)).toBe("one\ntwo");
  const told = failingSections(passed(1, 1000).join("\n"), 300);
  expect(told.startsWith("[...]\nok ")).toBe(true);
  expect(told).toContain("ok 1000 ");
});

it("stays bounded however many lines fail, and however long they are", () => {
  const output = Array.from({ length: 50_000 }, () => `error ${"x".repeat(2000)}`).join("\n");
  expect(failingSections(output, 8192).length).toBeLessThan(10_000);
});
