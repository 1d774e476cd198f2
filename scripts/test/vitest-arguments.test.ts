import { expect, test } from "vitest";
// @ts-expect-error Plain JavaScript without a declaration.
import { vitestArguments as untyped } from "./vitest-arguments.mjs";

const vitestArguments = untyped as (given: readonly string[]) => string[];

const COMMIT = ["--project", "unit", "--project", "servers", "--project", "own-process"];
const ALL = [...COMMIT, "--project", "simulation", "--project", "chaos"];
const NIGHTLY = [...ALL, "--project", "nightly"];

test.each([
  ["nothing: the tier of a commit", [], ["run", ...COMMIT, "--mode", "commit"]],
  ["only options: the same tier", ["--bail=1"], ["run", ...COMMIT, "--mode", "commit", "--bail=1"]],
  ["a word: files of every tier and project", ["sandbox"], ["run", ...ALL, "sandbox"]],
  ["a word behind an option", ["--bail=1", "chaos"], ["run", ...ALL, "--bail=1", "chaos"]],
  ["--all", ["--all", "--reporter=json"], ["run", ...ALL, "--reporter=json"]],
  ["--nightly: everything, and what is nightly", ["--nightly"], ["run", ...NIGHTLY]],
  ["--nightly and a word", ["--nightly", "crash"], ["run", ...NIGHTLY, "crash"]],
  ["--watch: the unit tests", ["--watch"], ["watch", "--project", "unit", "--mode", "commit"]],
  ["--watch and a word", ["--watch", "gateway"], ["watch", ...ALL, "gateway"]],
])("%s", (_title, given, expected) => {
  expect(vitestArguments(given)).toEqual(expected);
});
