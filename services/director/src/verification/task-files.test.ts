import { expect, test } from "vitest";
import { outsideOf } from "./task-files.ts";

const files = (...paths: string[]) => paths.map((path) => ({ path, from: null }));
const scope = (allowed_files: string[], disallowed_files: string[] = []) => ({
  allowed_files,
  disallowed_files,
});

test("a change may touch what the task allows, and both names of a rename count", () => {
  expect(outsideOf(files("src/a.ts"), undefined)).toBeNull();
  expect(outsideOf(files("src/a.ts"), scope(["src/**"]))).toBeNull();
  expect(outsideOf(files("any"), scope([]))).toBeNull();
  expect(outsideOf(files("src/a.ts", "docs/a.md"), scope(["src/**"]))).toContain("docs/a.md: outside");
  expect(outsideOf(files("src/x/a.ts"), scope([], ["src/x/"]))).toContain(
    "src/x/a.ts: the plan does not allow",
  );
  expect(outsideOf([{ path: "src/a.ts", from: "docs/a.ts" }], scope(["src/**"]))).toContain("docs/a.ts");
});
