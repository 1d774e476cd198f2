import { expect, test } from "vitest";
import { meantCommand } from "./meant-command.ts";

test.each([
  ["nmp test", "npm test"],
  [" mkae  check ", "make  check"],
  ["pyhton3 -m pytest", "python3 -m pytest"],
  ["pytst -q", "pytest -q"],
  ["Npm test", "npm test"],
  ["crago test", "cargo test"],
])("%j is taken for a mistyped %j", (check, meant) => {
  expect(meantCommand(check)).toBe(meant);
});

test.each([
  ...["npm test", "pnpm test", "gmake", "mage test", "jruby x.rb", "javac X.java", "python2 x.py", "demo"],
  ...["./nmp test", "env nmp test", "own-tool --all", "CI=1 nmp test", "", "(cd api && make)"],
])("%j is no slip, as far as its first word tells", (check) => {
  expect(meantCommand(check)).toBeNull();
});
