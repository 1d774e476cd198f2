import { expect, it } from "vitest";
import { pathFault } from "./path-fault.ts";

it("a path that a sandbox can hold has no fault, and another the first rule that it breaks", () => {
  const paths = [
    "a/b.ts",
    "ä/日本語.txt",
    "a\\b",
    "caf\ufffd.txt",
    "caf\udce9.txt",
    "a\nb",
    "x/.GIT/config",
    "x".repeat(256),
  ];
  expect(paths.map(pathFault)).toEqual([
    null,
    null,
    "path-backslash",
    "path-text",
    "path-text",
    "path-control",
    "path-git",
    "path-length",
  ]);
});
