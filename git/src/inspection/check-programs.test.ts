import { expect, it } from "vitest";
import { CHECK_PROGRAMS, isLacking, programsForCheck } from "./check-programs.ts";
import { checkCandidates, discoverChecks } from "./checks.ts";
import { discoverEnvironment } from "./environment.ts";

const FILES: Record<string, string> = {
  Makefile: "test:\n\t./t\n",
  "go.mod": "module a\n",
  "a_test.go": "",
  "test/a.bats": "",
  "test.sh": "true\n",
};
const listing = Object.keys(FILES);
const read = (path: string): string | null => FILES[path] ?? null;

it("what needs a program that the image lacks is passed over, and the next candidate is the check", async () => {
  expect(await discoverChecks(listing, read)).toEqual(["make test"]);
  expect(await discoverChecks(listing, read, ["make"])).toEqual(["go test ./..."]);
  expect(await discoverChecks(listing, read, ["make", "go"])).toEqual(["bats test"]);
  // Bats is installed by npm.
  expect(await discoverChecks(listing, read, ["make", "go", "bats"])).toEqual(["bats test"]);
  expect(await discoverChecks(listing, read, ["make", "go", "bats", "npm"])).toEqual(["sh ./test.sh"]);
});

it("a check that the repository declares is kept, whatever the image lacks", async () => {
  const declared = (path: string): string | null =>
    path === "antiphon.yaml" ? "check: make all" : read(path);
  expect(await discoverChecks([...listing, "antiphon.yaml"], declared, CHECK_PROGRAMS)).toEqual(["make all"]);
  expect(await checkCandidates([...listing, "antiphon.yaml"], declared)).toEqual([]);
  const prepared = (path: string): string | null =>
    path === "antiphon.yaml" ? "setup: sh get.sh" : read(path);
  expect(await checkCandidates([...listing, "antiphon.yaml"], prepared)).toEqual([]);
});

it("the candidates come in their order, each with the programs that it needs", async () => {
  expect(await checkCandidates(listing, read)).toEqual([
    { command: "make test", needs: [["make"]] },
    { command: "go test ./...", needs: [["go"]] },
    { command: "bats test", needs: [["bats", "npm"]] },
    { command: "sh ./test.sh", needs: [] },
  ]);
});

it("nothing is prepared with a program that the image lacks", async () => {
  const commands = async (lacks: string[]) =>
    (await discoverEnvironment({ listing, read, project: null, lacks }))?.commands ?? [];
  expect((await commands([])).length).toBeGreaterThan(0);
  expect(await commands(["go", "npm"])).toEqual([]);
});

it.each(["npm test", "sh ./gradlew --no-daemon test", "vendor/bin/phpunit", "bundle exec rspec"])(
  "%s needs a program",
  (command) => expect(programsForCheck(command)).toHaveLength(1),
);

it("a script needs nothing that is looked for", () => {
  expect(isLacking("sh ./test.sh", CHECK_PROGRAMS)).toBe(false);
});
