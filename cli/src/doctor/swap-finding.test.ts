import { expect, test } from "vitest";
import { swapFinding } from "./swap-finding.ts";

const LIMITS = { SwapLimit: true };

test("without a wish for swap a workspace is in memory, which is no fault", () => {
  expect(swapFinding(null, "docker", "runc", 0)).toMatchObject({ state: "off" });
});

test("swap is there where the engine can limit it", () => {
  expect(swapFinding(LIMITS, "docker", "runc", 4096)).toMatchObject({ state: "ok", remedy: null });
});

test.each([
  ["another provider", LIMITS, "e2b", "runc", /provider e2b/],
  ["another runtime", LIMITS, "docker", "runsc", /runtime runsc/],
  ["no engine", null, "docker", "runc", /no engine/],
  ["a kernel without accounting of swap", { SwapLimit: false }, "docker", "runc", /cannot limit swap/],
] as const)("a wish for swap is a problem with %s", (_name, info, provider, runtime, why) => {
  const found = swapFinding(info, provider, runtime, 4096);
  expect(found.state).toBe("problem");
  expect(found.detail).toMatch(why);
});
