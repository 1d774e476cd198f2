import { expect, test } from "vitest";
import { AntiphonError } from "@antiphon/contracts";
import { engineFull, firstLine, isNoSpace, saysNoSpace } from "./no-space.ts";

test("what a tool says of each file is one line, with the number of the others", () => {
  const line = (at: number): string => `tar: node_modules/f${at}: Cannot write: No space left on device`;
  expect(firstLine([line(1), line(2), line(3), ""].join("\n"))).toBe(`${line(1)} (and 2 more lines)`);
  expect(firstLine(`${line(1)}\n${line(2)}`)).toBe(`${line(1)} (and 1 more line)`);
  expect(firstLine(`${line(1)}\n`)).toBe(line(1));
  expect(firstLine("")).toBe("");
});

test("a full disk is told from every other fault", () => {
  expect(saysNoSpace("mkdir /var/lib/docker/overlay2/x: no space left on device")).toBe(true);
  expect(saysNoSpace("tar: f: Cannot open: Disk quota exceeded")).toBe(true);
  expect(saysNoSpace("tar: f: Cannot open: Permission denied")).toBe(false);
  expect(isNoSpace(engineFull("to lay out the environment"))).toBe(true);
  expect(isNoSpace(new AntiphonError("ANT_SANDBOX_FAILED", "no space left on device"))).toBe(false);
  expect(isNoSpace(Object.assign(new Error("write"), { code: "EDQUOT" }))).toBe(true);
  expect(isNoSpace(Object.assign(new Error("write"), { code: "EACCES" }))).toBe(false);
  expect(isNoSpace(null)).toBe(false);
});
