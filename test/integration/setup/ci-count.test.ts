import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../../..", import.meta.url));
let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "antiphon-count-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

type Status = "passed" | "failed" | "skipped";
const file = (name: string, status: string, tests: Status[], message = ""): object => ({
  name: join(root, name),
  status,
  message,
  assertionResults: tests.map((test, index) => ({
    status: test,
    fullName: `test ${index + 1}`,
    ...(test === "failed" ? { failureMessages: ["Error: too late\n    at a line"] } : {}),
  })),
});

function write(name: string, files: object[] | null): string {
  const report = join(dir, name);
  if (files !== null) writeFileSync(report, JSON.stringify({ testResults: files }));
  return report;
}

function ci(script: string, ...words: string[]): { code: number | null; lines: string[] } {
  const run = spawnSync(process.execPath, [`.ci/${script}`, ...words], { cwd: root, encoding: "utf8" });
  return { code: run.status, lines: run.stdout.trimEnd().split("\n") };
}

const count = (
  files: object[] | null,
  failedSteps = "",
  second: object[] | null = null,
): { code: number | null; lines: string[] } =>
  ci("count.mjs", write("report.json", files), failedSteps, write("second.json", second));

describe("the closing line of .ci/run", () => {
  it("counts the passed tests, and is green only if all passed", () => {
    expect(
      count([file("a.test.ts", "passed", ["passed", "passed"]), file("b.test.ts", "passed", ["passed"])]),
    ).toEqual({
      code: 0,
      lines: ["3 passed, 0 failed"],
    });
  });

  it("prints the slowest files of a second or more, the slowest first", () => {
    const timed = (name: string, ms: number): object => ({
      ...file(name, "passed", ["passed"]),
      startTime: 1_000,
      endTime: 1_000 + ms,
    });
    const many = Array.from({ length: 20 }, (_, index) => timed(`${index}.test.ts`, (index + 1) * 900));
    const { lines } = count(many);
    expect(lines).toHaveLength(16);
    expect(lines.slice(0, 2)).toEqual(["   18 s  19.test.ts", "   17 s  18.test.ts"]);
    expect(count([timed("quick.test.ts", 999)]).lines).toEqual(["1 passed, 0 failed"]);
  });

  it("names each failed test", () => {
    expect(count([file("a.test.ts", "failed", ["passed", "failed"])], "tests")).toEqual({
      code: 1,
      lines: ["failed: a.test.ts: test 2", "1 passed, 1 failed"],
    });
  });

  it("counts a skipped test and a file that could not be loaded as failures", () => {
    const { code, lines } = count([
      file("a.test.ts", "passed", ["passed", "skipped"]),
      file("b.test.ts", "failed", [], "Cannot find module"),
    ]);
    expect(code).toBe(1);
    expect(lines.at(-1)).toBe("1 passed, 2 failed");
    expect(lines).toContain("failed: b.test.ts: Cannot find module");
  });

  it("is red when a step failed although every test passed", () => {
    const { code, lines } = count([file("a.test.ts", "passed", ["passed"])], "check tests");
    expect(code).toBe(1);
    expect(lines.at(-1)).toBe("1 passed, 2 failed");
  });

  it.each([["there is no report", null] as const, ["the report is empty", []] as const])(
    "is red when %s",
    (_, files) => {
      const { code, lines } = count(files === null ? null : [...files]);
      expect(code).toBe(1);
      expect(lines.at(-1)).toBe("0 passed, 1 failed");
    },
  );

  it("counts a file of the second try by its second result, and names what failed first", () => {
    const first = [
      file("a.test.ts", "failed", ["passed", "failed"]),
      file("b.test.ts", "failed", ["passed", "passed"], "a service lacks a right\nmore"),
      file("c.test.ts", "passed", ["passed"]),
    ];
    const passed = [
      file("a.test.ts", "passed", ["passed", "passed"]),
      file("b.test.ts", "passed", ["passed", "passed"]),
    ];
    expect(count(first, "", passed)).toEqual({
      code: 0,
      lines: [
        "failed at the first try: a.test.ts: test 2: Error: too late",
        "failed at the first try: b.test.ts: the file: a service lacks a right",
        "5 passed, 0 failed",
      ],
    });
    const again = [file("a.test.ts", "failed", ["passed", "failed"])];
    const { code, lines } = count(first, "second-try", again);
    expect(code).toBe(1);
    expect(lines.slice(-3)).toEqual([
      "failed: a.test.ts: test 2",
      "failed: b.test.ts: a service lacks a right",
      "4 passed, 2 failed",
    ]);
  });

  it("is red when the second try gave no report", () => {
    expect(count([file("a.test.ts", "passed", ["passed"])], "second-try").code).toBe(1);
    expect(count([file("a.test.ts", "failed", ["failed"])], "second-try").code).toBe(1);
  });
});

describe("the second try of .ci/run", () => {
  const failing = (many: number): object[] => [
    file("good.test.ts", "passed", ["passed"]),
    ...Array.from({ length: many }, (_, index) => file(`bad-${index}.test.ts`, "failed", ["failed"])),
  ];

  it("takes the files that failed, and none if more failed than chance explains", () => {
    expect(ci("failed-files.mjs", write("r.json", failing(2))).lines).toEqual([
      "bad-0.test.ts",
      "bad-1.test.ts",
    ]);
    expect(ci("failed-files.mjs", write("r.json", failing(7))).lines).toEqual([""]);
    expect(ci("failed-files.mjs", join(dir, "none.json")).lines).toEqual([""]);
  });
});
