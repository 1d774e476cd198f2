import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { withoutNotes } from "./npm-lock-text.ts";

test("a lock keeps what installing needs, and neither hosts nor notes for people", () => {
  const one = { version: "1.0.0", integrity: "sha512-aGk=", bin: { x: "x.js" } };
  const notes = { resolved: "https://registry.example/x.tgz", license: "MIT", engines: { node: ">=20" } };
  const lock = { lockfileVersion: 3, packages: { "node_modules/x": { ...one, ...notes } } };
  expect(JSON.parse(withoutNotes(JSON.stringify(lock)))).toEqual({
    lockfileVersion: 3,
    packages: { "node_modules/x": one },
  });
});

test("a build that the registry does not have is left out", () => {
  const names = { "x-linux": "1.0.0", "x-windows": "1.0.0" };
  const packages = { "node_modules/x": { optionalDependencies: names }, "node_modules/x-linux": {} };
  const { packages: kept } = JSON.parse(withoutNotes(JSON.stringify({ packages }))) as {
    packages: Record<string, unknown>;
  };
  expect(kept["node_modules/x"]).toEqual({ optionalDependencies: { "x-linux": "1.0.0" } });
});

const agents = new URL("../../agents/", import.meta.url);
const locks = readdirSync(agents, { recursive: true, encoding: "utf8" }).filter((file) =>
  file.endsWith("package-lock.json"),
);

test.each(locks)("agents/%s names no host", (file) => {
  expect(readFileSync(new URL(file, agents), "utf8")).not.toMatch(/"resolved"|:\/\//);
});
