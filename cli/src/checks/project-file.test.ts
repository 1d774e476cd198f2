import { validateDocument } from "@antiphon/contracts/documents/document";
import { describe, expect, it } from "vitest";
import {
  declaredChecks,
  furtherCommands,
  nothingSet,
  projectFileText,
  ranAndFailed,
  type Tried,
} from "./project-file.ts";

const COMMIT = "0123456789abcdef0123456789abcdef01234567";
const tried = (command: string, exitCode: number | null, timedOut = false): Tried => ({
  ...{ command, exitCode, timedOut, durationMs: 1_200 },
});
const text = (found: Tried[], further: Tried[] = [], image: string | null = null): string =>
  projectFileText({ commit: COMMIT, found, further, image });

describe("the antiphon.yaml of `antiphon init`", () => {
  it.each([
    ["npm test"],
    ["make test # all of it"],
    ["- a: b"],
    ["sh -c 'echo \"a\"; exit 0'"],
    ["python3 -m pytest -q\npython3 -m mypy ."],
    [`node -e '${"x".repeat(200)}'`],
    ["yes"],
    ["123"],
  ])("is valid and declares exactly the check that passed: %j", (command) => {
    const file = text([tried(command, 0)]);
    expect(validateDocument(file, { filename: "antiphon.yaml", schema: "ProjectFile" })).toMatchObject({
      ok: true,
    });
    expect(declaredChecks(file, "antiphon.yaml")).toEqual([command]);
  });

  it("shows what was tried with its time, and leaves out what did not pass", () => {
    const file = text([tried("npm test", 0)], [tried("npm run lint", 2), tried("npm run build", null, true)]);
    expect(file).toContain("# Tried on 0123456789:");
    expect(file).toContain("#   npm test: passed in 1.2 s");
    expect(file).toContain("#   npm run lint: failed in 1.2 s, exit code 2");
    expect(file).toContain("#   npm run build: ran out of time after 1.2 s");
    expect(file).toContain("\n# These do not pass:\n#   - npm run lint\n#   - npm run build\n");
    expect(file).not.toContain("These pass");
    expect(declaredChecks(file, "antiphon.yaml")).toEqual(["npm test"]);
  });

  it("tells a further check that passes from one that does not, and sets neither", () => {
    const further = [tried("npm run build", 0), tried("npm run lint", 2)];
    const offered =
      /^# These pass.*:\n# {3}- npm run build\n# These do not pass:\n# {3}- npm test:old\n# {3}- npm run lint$/m;
    const beside = text([tried("npm test:old", 1), tried("npm test", 0)], further);
    expect(beside).toMatch(offered);
    expect(declaredChecks(beside, "antiphon.yaml")).toEqual(["npm test"]);
    const without = text([tried("npm test:old", 1)], further);
    expect(without).toMatch(offered);
    expect(declaredChecks(without, "antiphon.yaml")).toBeNull();
    const uncommented = without
      .replace("# checks:", "checks:")
      .replace("#   - npm run build", "  - npm run build");
    expect(declaredChecks(uncommented, "antiphon.yaml")).toEqual(["npm run build"]);
  });

  it("says that no test passes, and what did", () => {
    const told = (found: Tried[], further: Tried[]) =>
      nothingSet({ commit: COMMIT, found, further, image: null });
    const further = [tried("npm run build", 0), tried("npm run lint", 2), tried("make check", 0)];
    expect(told([tried("npm test", 1)], further)).toMatch(
      /^no test passes on the last commit; `npm run build` and `make check` passed, /,
    );
    expect(told([], further)).toMatch(/^no test was found; `npm run build` and `make check` passed, /);
    expect(told([tried("npm test", 1)], [tried("npm run lint", 2)])).toMatch(
      /^no check passes on the last commit\. /,
    );
  });

  it("tells a check that ran and failed from one that passed, could not start or ran out of time", () => {
    const ends = [1, 2, 0, 126, 127, null].map((exitCode) => ranAndFailed(tried("npm test", exitCode)));
    expect(ends).toEqual([true, true, false, false, false, false]);
    expect(ranAndFailed(tried("npm test", 1, true))).toBe(false);
    const tail = "/usr/bin/python3: No module named pytest\n";
    expect(ranAndFailed({ ...tried("python3 -m pytest", 1), tail })).toBe(false);
  });

  it("is valid without a check that passes, and names none", () => {
    for (const found of [[], [tried("make test", 1)]])
      for (const image of [null, "node:24"]) {
        const file = text(found, [], image);
        expect(validateDocument(file, { filename: "antiphon.yaml", schema: "ProjectFile" }).ok).toBe(true);
        expect(declaredChecks(file, "antiphon.yaml")).toBeNull();
        expect(file).toContain(image === null ? "\n# image: default\n" : "\nimage: node:24\n");
      }
  });
});

describe("further commands", () => {
  it("are scripts and targets that look like checks, besides the known ones", () => {
    const packageJson = JSON.stringify({
      scripts: { test: "t", lint: "l", build: "b", start: "s", check: "" },
    });
    const makefile = "check:\n\ttrue\nlint := 1\nlinting:\n";
    expect(furtherCommands({ packageJson, makefile, locks: [] }, ["make check"])).toEqual([
      "npm run lint",
      "npm run check",
      "npm run build",
    ]);
  });

  it.each([
    ["pnpm", ["pnpm-lock.yaml"]],
    ["yarn", ["yarn.lock"]],
  ])("are run with %s by its lock file", (manager, locks) => {
    const packageJson = JSON.stringify({ scripts: { lint: "l", build: "b" } });
    expect(furtherCommands({ packageJson, makefile: null, locks }, [])).toEqual([
      `${manager} run lint`,
      `${manager} run build`,
    ]);
  });

  it.each([["{"], ["[]"], ['{"scripts": 1}'], [null]])(
    "are none in a package.json like %j",
    (packageJson) => {
      expect(furtherCommands({ packageJson, makefile: null, locks: [] }, [])).toEqual([]);
    },
  );
});
