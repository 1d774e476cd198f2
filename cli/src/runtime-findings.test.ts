import { expect, test } from "vitest";
import { runtimeFindings } from "./runtime-findings.ts";

const NOTHING = { PATH: "/nonexistent" };

test("what the engine has is available, what it has not is unavailable with the reason", () => {
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

test("without an engine nothing is known", () => {
  for (const { detail } of runtimeFindings(null, NOTHING, ""))
    expect(detail).toBe("unavailable: no engine answers");
});
