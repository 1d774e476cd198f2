import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { validate, type SchemaName } from "../index.ts";
import { durationMs, isoDuration, toContractJson } from "./wire-json.ts";

const golden = (name: string): string =>
  readFileSync(new URL(`../../fixtures/wire/${name}.json`, import.meta.url), "utf8");

const CASES: Readonly<Record<string, { schema: SchemaName; value: object }>> = {
  "build-project": {
    schema: "BuildProject",
    value: {
      repo: { name: "app", path: "/src/app" },
      projectPath: "src/App/App.csproj",
      configuration: "Release",
      targetFramework: null,
      targets: ["Restore", "Build"],
      timeout: "PT5M",
    },
  },
  "command-completed": {
    schema: "CommandCompleted",
    value: {
      commandId: "3F2504E0-4F89-11D3-9A0C-0305E82C3301",
      outcome: "Failure",
      message: "1 > 0 & 'x' <y> \u00e9 \u{1f600}",
      errorCode: null,
    },
  },
  correlation: {
    schema: "Correlation",
    value: {
      sessionId: "s-1",
      commandId: null,
      parentCommandId: null,
      planNodeId: "n-1",
      issuerAgentId: "agent-7",
    },
  },
  throttled: { schema: "Throttled", value: { scope: "session", retryAfter: "2025-11-30T12:00:00+00:00" } },
};

describe("Contracts v1.3 on the wire", () => {
  for (const [name, { schema, value }] of Object.entries(CASES)) {
    test(`${schema} is written as in its golden file: indented, null omitted, relaxed escaping`, () => {
      const text = toContractJson(value);
      expect(`${text}\n`).toBe(golden(name));
      expect(validate(schema, JSON.parse(text)).ok).toBe(true);
    });
  }

  test("null in a list stays; only null properties are omitted", () => {
    expect(toContractJson({ a: [null, 1], b: { c: null } })).toBe(
      '{\n  "a": [\n    null,\n    1\n  ],\n  "b": {}\n}',
    );
  });

  test("durations are converted to ISO-8601 and back", () => {
    for (const [text, ms] of [
      ["PT5M", 300_000],
      ["P1DT2H", 93_600_000],
      ["PT0.25S", 250],
      ["PT0S", 0],
      ["PT1H1M1S", 3_661_000],
    ] as const) {
      expect(durationMs(text)).toBe(ms);
      expect(isoDuration(ms)).toBe(text);
    }
    for (const bad of ["", "P", "PT", "5M", "P1Y", "PT-5M", "00:05:00"])
      expect(() => durationMs(bad), bad).toThrow(/ISO-8601/);
    for (const bad of [-1, 0.5, Number.NaN]) expect(() => isoDuration(bad)).toThrow();
  });
});
