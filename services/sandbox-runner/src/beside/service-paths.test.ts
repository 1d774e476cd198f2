import { expect, it } from "vitest";
import { isServicePath, requireServicePaths } from "./service-paths.ts";

it.each([
  "/",
  "",
  "data",
  "/proc",
  "/proc/sys",
  "/dev/shm",
  "/sys",
  "/tmp/x",
  "/workspace",
  "/run",
  "/usr",
  "/a/../proc",
  "/a b",
  "/a,b",
  "/a:b",
])("a service has no directory of its own at %j", (path) => {
  expect(isServicePath(path)).toBe(false);
  expect(() => requireServicePaths([path])).toThrow(/no directory in memory/);
});

it.each(["/data", "/var/lib/postgresql/data", "/run/postgresql", "/var/run/postgresql"])(
  "a service may have a directory in memory at %s",
  (path) => {
    expect(isServicePath(path)).toBe(true);
  },
);

it("a service has a bounded number of them", () => {
  expect(() => requireServicePaths(Array.from({ length: 17 }, (_, i) => `/d${i}`))).toThrow(/more than 16/);
});
