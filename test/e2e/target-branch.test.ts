import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { BROKEN_CALCULATOR, CHECK, FIX, makeProject, type Project } from "./support/project.ts";
import { startQuickStack, type Stack } from "./support/stack.ts";

interface Summary {
  runId: string;
  status: string;
  code: string | null;
  commit: string;
  landedOn: string | null;
}

let stack: Stack;
let project: Project;

beforeAll(async () => {
  stack = await startQuickStack();
});
afterAll(() => stack.stop());
afterEach(() => project.remove());

/** Moves main while the agent works: the agent waits for a file that appears once main has moved. */
async function landWhileMainMoves(move: () => void): Promise<Summary> {
  const { document } = await stack.json<{ runId: string }>([
    ...["run", "Fix the broken add", "--repo", project.path, "--command", `sleep 2; ${FIX}`],
    ...["--check", CHECK, "--land", "main", "--detach"],
  ]);
  move();
  await stack.antiphon(["events", document.runId]);
  return (await stack.json<Summary>(["get", document.runId])).document;
}

test("if the target branch moved, the run is replayed on its tip and checked there before the branch moves again", async () => {
  project = makeProject(BROKEN_CALCULATOR);
  let theirs = "";
  const end = await landWhileMainMoves(() => {
    project.write("other.js", "// somebody else's work\n");
    theirs = project.commitAll("Meanwhile");
  });
  expect(end).toMatchObject({ status: "succeeded", landedOn: "refs/heads/main" });
  expect(project.git("rev-parse", "main~1").trim()).toBe(theirs);
  expect(project.git("show", "main:add.js")).toContain("a + b");
  expect(project.git("show", "main:other.js")).toContain("somebody else");
  expect(project.git("status", "--porcelain")).toBe("");
});

test("a combination that fails the check does not land, even though each half passed", async () => {
  project = makeProject(BROKEN_CALCULATOR);
  let theirs = "";
  const end = await landWhileMainMoves(() => {
    project.write(
      "test.js",
      `${BROKEN_CALCULATOR["test.js"]}if (add(1, 1) !== 3) throw new Error("new rule");\n`,
    );
    theirs = project.commitAll("A rule the fix does not know");
  });
  expect(end).toMatchObject({ status: "failed", code: "ANT_VERIFY_CHECK_FAILED" });
  expect(project.git("rev-parse", "main").trim()).toBe(theirs);
  expect(project.landed(end.runId).length).toBeGreaterThan(0);
});

test("a change does not follow a file that the branch has renamed, because only the old path was permitted", async () => {
  project = makeProject(BROKEN_CALCULATOR);
  let theirs = "";
  const end = await landWhileMainMoves(() => {
    project.git("mv", "add.js", "sum.js");
    project.write("test.js", `${BROKEN_CALCULATOR["test.js"]}`.replaceAll("./add", "./sum"));
    theirs = project.commitAll("Another name");
  });
  expect(end).toMatchObject({ status: "failed", code: "ANT_LANDING_CONFLICT" });
  expect(project.git("rev-parse", "main").trim()).toBe(theirs);
});

test("a conflict fails the run, moves no branch and keeps the verified work on the run's own branch", async () => {
  project = makeProject(BROKEN_CALCULATOR);
  let theirs = "";
  const end = await landWhileMainMoves(() => {
    project.write("add.js", "module.exports = (a, b) => Number(a) - Number(b);\n");
    theirs = project.commitAll("The same line");
  });
  expect(end).toMatchObject({ status: "failed", code: "ANT_LANDING_CONFLICT" });
  expect(project.git("rev-parse", "main").trim()).toBe(theirs);
  expect(project.git("show", `antiphon/${end.runId}:add.js`)).toContain("a + b");
});
