import { expect, test } from "vitest";
import { layerFinding } from "./layer-finding.ts";

const LINUX = { OSType: "linux", SecurityOptions: ["name=seccomp,profile=default"] };

test("large trees are mounted where the engine can do it", () => {
  expect(layerFinding(LINUX, "docker", "runc")).toMatchObject({ state: "ok", remedy: null });
  expect(layerFinding({}, "docker", "runc").state).toBe("ok");
});

test.each([
  ["another provider", LINUX, "bubblewrap", "runc", /provider bubblewrap/],
  ["another runtime", LINUX, "docker", "runsc", /runtime runsc/],
  ["no engine", null, "docker", "runc", /no engine/],
  ["another system", { OSType: "windows" }, "docker", "runc", /windows/],
  ["a rootless engine", { SecurityOptions: ["name=rootless"] }, "docker", "runc", /rootless/],
  ["remapped users", { SecurityOptions: ["name=userns"] }, "docker", "runc", /userns/],
] as const)("they are streamed with %s, which is no fault", (_name, info, provider, runtime, why) => {
  const found = layerFinding(info, provider, runtime);
  expect(found.state).toBe("off");
  expect(found.detail).toMatch(why);
});
