import type { DispatchBody, GitAction } from "@antiphon/contracts";
import { expect, test } from "vitest";
import { reportOf } from "../evidence/report.ts";
import { dispatchOf, factsWith, output, ran } from "../testing/dispatch.fixture.ts";
import { gitTask } from "./git-task.ts";

const TARGET = "c".repeat(40);
const gitDispatch = (git_action: GitAction, over: Partial<DispatchBody> = {}): DispatchBody =>
  dispatchOf({
    task: { ...dispatchOf().task, kind: "git", git_action, base_ref: TARGET },
    agent: { kind: "command", argv: ["my-agent"] },
    ...over,
  });

test("git runs in the sandbox in place of an agent, and is told the commit to go back to", () => {
  const { steps, change, selfVerify, note } = gitTask(gitDispatch("git_reset"));
  expect(steps.map(({ command }) => command)).toEqual(["git reset --hard cccccccccccc"]);
  expect(steps[0]?.argv.slice(3)).toEqual(["sh", TARGET, "."]);
  expect(steps[0]?.env).toMatchObject({ GIT_CONFIG_NOSYSTEM: "1", GIT_CONFIG_GLOBAL: "/dev/null" });
  expect({ change, selfVerify, note }).toEqual({
    ...{ change: { files: [], deletions: [] }, selfVerify: true },
    note: "git_reset to cccccccccccc",
  });
});

test("git_checkout names the files of the task as git reads globs, and all files if the task names none", () => {
  const named = gitTask(gitDispatch("git_checkout", { scope: ["a/[id]/*.{js,ts}", "docs/"] }));
  expect(named.steps[0]?.argv.slice(5)).toEqual([
    ":(glob)a/\\[id\\]/*.js",
    ":(glob)a/\\[id\\]/*.ts",
    ":(glob)docs/",
  ]);
  expect(gitTask(gitDispatch("git_checkout")).steps[0]?.argv.slice(5)).toEqual(["."]);
});

test("a verb that only a newer release knows is no agent's failure", () => {
  expect(() => gitTask(gitDispatch("git_bisect" as GitAction))).toThrow(
    expect.objectContaining({ code: "ANT_TASK_KIND_UNSUPPORTED" }),
  );
});

test("git_status and git_checkpoint must not change a file; git_reset and git_checkout may, and need not", () => {
  const codes = (git_action: GitAction) =>
    [factsWith().change, null].map((change) => reportOf(factsWith({ kind: "git", git_action, change })).code);
  expect(codes("git_status")).toEqual(["ANT_TASK_MODIFIED_FILES", null]);
  expect(codes("git_checkpoint")).toEqual(["ANT_TASK_MODIFIED_FILES", null]);
  expect(codes("git_reset")).toEqual([null, null]);
  expect(codes("git_checkout")).toEqual([null, null]);
});

test("a verb that fails is reported with what git said", () => {
  const work = [ran("git checkout cccccccccccc -- a.txt", 1, { stderr: output("error: no such path") })];
  const { code, result } = reportOf(
    factsWith({ kind: "git", git_action: "git_checkout", work, change: null }),
  );
  expect(code).toBe("ANT_TASK_GIT_FAILED");
  expect(result.summary).toBe("`git checkout cccccccccccc -- a.txt` exited 1: error: no such path");
});
