import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runtimeFindings } from "./runtime-findings.ts";

const NOTHING = { PATH: "/nonexistent" };

test("a runtime of the engine is available; any other is unavailable, with the reason", () => {
  const info = { Runtimes: { runc: {}, runsc: {} } };
  const found = runtimeFindings(info, NOTHING, "runsc");
  expect(found.map(({ name, state }) => [name, state])).toEqual([
    ["runtime runc", "ok"],
    ["runtime runsc", "ok"],
    ["runtime kata", "off"],
  ]);
  expect(found[1]?.detail).toBe("available, chosen");
  expect(found[2]?.detail).toMatch(/^unavailable: (this machine has no \/dev\/kvm|no kata-runtime)/);
  expect(found[2]?.remedy).toContain("daemon.json");
});

test("the chosen runtime is a problem where the engine does not have it", () => {
  const [, runsc] = runtimeFindings({ Runtimes: { runc: {} } }, NOTHING, "runsc");
  expect(runsc?.state).toBe("problem");
  expect(runsc?.detail).toContain("no runsc on this machine");
});

test("without an engine no runtime is available", () => {
  for (const { detail } of runtimeFindings(null, NOTHING, ""))
    expect(detail).toBe("unavailable: no engine answers");
});

test("a release with a known defect is reported with that defect", () => {
  const directory = mkdtempSync(join(tmpdir(), "antiphon-runsc-"));
  try {
    const program = (release: string): void =>
      writeFileSync(join(directory, "runsc"), `#!/bin/sh\necho runsc version ${release}\n`, {
        mode: 0o755,
      });
    const detail = (): string | undefined =>
      runtimeFindings({ Runtimes: { runsc: {} } }, { PATH: directory }, "")[1]?.detail;
    program("0.0~20221219.0");
    expect(detail()).toMatch(/^available; release 20221219 refuses statx/);
    program("release-20250101.0");
    expect(detail()).toBe("available");
  } finally {
    rmSync(directory, { recursive: true });
  }
});
