import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { misspelt, VARIABLES } from "./variables.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));

/** Sandboxes are told these, the build puts them in, or only tests read them. */
const NO_SETTINGS =
  /^(?:CHECKPOINT|COMPILE_FILE|EGRESS|EPOCH|LAUNCHER|PROGRAMS|QUESTION_FILE|RUN|TASK|TASK_ID|VERSION|TEST_\w+)$/;

it("names every setting that the sources and the files of the deployment read, and no other", () => {
  const places = [
    "services/*/src",
    "runtime/src",
    "git/src",
    "contracts/src",
    "cli/src",
    "setup",
    "scripts",
    "bin",
    "deploy",
  ];
  const files = execFileSync(
    "git",
    ["ls-files", "-z", "--", ...places.map((place) => `:(glob)${place}/**`)],
    { cwd: root },
  )
    .toString()
    .split("\0")
    .filter((file) => file !== "" && !/\.test\.ts$|settings\/variables\.ts$/.test(file));
  const texts = files.map((file) => readFileSync(`${root}/${file}`, "latin1")).join("\n");
  const read = new Set(
    Array.from(texts.matchAll(/ANTIPHON_([A-Z0-9_]*[A-Z0-9])\b/g), ([, name = ""]) => name),
  );
  const settings = [...read].filter((name) => !NO_SETTINGS.test(name));
  expect(settings.toSorted()).toEqual([...VARIABLES].toSorted());
});

it.each([
  ["ANTIPHON_ROLE", "ANTIPHON_ROLES"],
  ["ANTIPHON_TOKNES", "ANTIPHON_TOKENS"],
  ["ANTIPHON_OPENRUNS", "ANTIPHON_OPEN_RUNS"],
  ["ANTIPHON_TRUSTED_KEY", "ANTIPHON_TRUSTED_KEYS"],
])("takes %s for a misspelt %s", (name, meant) => {
  expect(misspelt(["PATH", "ANTIPHON_TOKEN", name])).toEqual({ name, meant });
});

it("finds nothing wrong with settings, with names of sandboxes and tests, and with those of others", () => {
  const names = VARIABLES.map((name) => `ANTIPHON_${name}`);
  const others = [
    "ANTIPHON_TASK",
    "ANTIPHON_EPOCH",
    "ANTIPHON_TEST_NIGHT",
    "ANTIPHON_SOMETHING_NEW",
    "TOKENS",
  ];
  expect(misspelt([...names, ...others])).toBeNull();
});
