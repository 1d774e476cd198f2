/** Tasks of kind `git`, in the real sandbox: git's verbs in its own repository, and what the next tasks make of them. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { patient } from "../support/patience.ts";
import type { Project } from "./support/project.ts";
import { projectOfTest } from "./support/project-of-test.ts";
import { eventually } from "./support/program.ts";
import { startQuickStack, type Stack } from "./support/stack.ts";

let stack: Stack;
const scratch = mkdtempSync(join(tmpdir(), "antiphon-git-tasks-"));

beforeAll(async () => {
  stack = await startQuickStack({ associates: 1 });
});
afterAll(async () => {
  rmSync(scratch, { recursive: true, force: true });
  await stack.stop();
});

interface Shown {
  runId: string;
  status: string;
  code: string | null;
  message: string;
  commit: string | null;
  tasks: { task: string; code: string | null; commit: string | null; attempts: number }[];
}

function plan(name: string, tasks: readonly object[]): string {
  const path = join(scratch, `${name}.yaml`);
  writeFileSync(path, stringify({ goal: "Try things", tasks }));
  return path;
}

const edit = (id: number, command: string, more: object = {}) => ({
  ...{ id, description: `Step ${id}`, agent: { kind: "scripted", commands: [command] } },
  ...more,
});
const git = (id: number, git_action: string, more: object = {}) => ({
  ...{ id, description: `${git_action} here`, kind: "git", git_action },
  ...more,
});
const run = (at: Project, args: readonly string[]) => stack.json<Shown>(["run", "--repo", at.path, ...args]);

interface Step {
  type: string;
  taskId: string | null;
  body: { base?: { commit: string }; task?: { base_ref: string }; agent?: unknown };
}
async function recordsOf(runId: string): Promise<Step[]> {
  const answer = await fetch(`${stack.ready.gateway}/runs/${runId}/events`, {
    headers: { accept: "application/json" },
  });
  return ((await answer.json()) as { records: Step[] }).records;
}

const isDispatchOf = (task: string) => (one: Step) => one.type === "dispatch" && one.taskId === task;

describe("a plan is refused with the place of its fault, and nothing is stored", () => {
  const two = (more: object) => [edit(1, "true"), git(2, "git_reset", more)];
  test.each([
    ["an unknown verb", [git(1, "git_push")], ":6:5: /tasks/0/git_action: must be one of "],
    [
      "no verb",
      [{ id: 1, description: "x", kind: "git" }],
      ": /tasks/0/git_action: a task of kind `git` names its verb",
    ],
    [
      "a ref of the repository",
      two({ base_ref: "main" }),
      ": /tasks/1/base_ref: `main` is not `base` and no task",
    ],
    [
      "a task that need not be done",
      two({ base_ref: "T-001" }),
      ": /tasks/1/base_ref: `T-001` is not `base`",
    ],
    ["an agent", [edit(1, "true", { kind: "git", git_action: "git_status" })], ": /tasks/0/agent: "],
  ])("%s", async (name, tasks, words) => {
    const at = projectOfTest({ "a.txt": "one\n" });
    const path = plan("bad", tasks);
    const ended = await stack.antiphon(["run", "--repo", at.path, "--plan", path, "--command", "true"]);
    expect({ name, code: ended.code, stdout: ended.stdout }).toEqual({ name, code: 2, stdout: "" });
    expect(ended.stderr).toContain(`error ANT_PLAN_INVALID: ${path}`);
    expect(ended.stderr).toContain(words);
    const answer = await fetch(`${stack.ready.gateway}/intents`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        goal: "Try things",
        inputs: { repo: at.path, agent: { kind: "scripted" }, plan: { tasks } },
        constraints: {},
      }),
    });
    expect(answer.status).toBe(422);
    expect(((await answer.json()) as { error: { path: string } }).error.path).toMatch(
      /^\/inputs\/plan\/tasks\/\d/,
    );
    const list = plan(
      "list",
      tasks.map((task) => ({ dependencies: [], ...task })),
    );
    const listed = await stack.antiphon([
      "run",
      "Try",
      "--repo",
      at.path,
      "--tasks",
      list,
      "--command",
      "true",
    ]);
    expect({ name, code: listed.code, stdout: listed.stdout }).toEqual({ name, code: 2, stdout: "" });
    expect(listed.stderr).toMatch(/error ANT_INTENT_OPTIONS: --tasks: .*(verb|git_|base|agent)/);
  });
});

test("a verb that fails ends the run at once, with what git said", async () => {
  const at = projectOfTest({ "a.txt": "one\n" });
  const tasks = [git(1, "git_checkout", { allowed_files: ["gone/**"], checks: ["test -s a.txt"] })];
  const { document } = await run(at, ["--plan", plan("fails", tasks), "--command", "true"]);
  expect(document).toMatchObject({ status: "failed", code: "ANT_TASK_GIT_FAILED" });
  expect(document.message).toMatch(/no file of [0-9a-f]{40} matches :\(glob\)gone\/\*\*/);
  expect(document.tasks[0]).toMatchObject({ attempts: 1 });
  expect(at.landed(document.runId)).toEqual([]);
});

test("a change of git's that a rule forbids ends the run in one attempt", async () => {
  const at = projectOfTest({ "a.txt": "one\n" });
  const tasks = [
    edit(1, "echo two > a.txt", { checks: ["grep -qx two a.txt"] }),
    git(2, "git_reset", { dependencies: [1], disallowed_files: ["a.txt"], checks: ["grep -qx one a.txt"] }),
  ];
  const { document } = await run(at, ["--plan", plan("forbidden", tasks), "--command", "true"]);
  expect(document, document.message).toMatchObject({ status: "failed", code: "ANT_PATCH_SCOPE" });
  expect((await recordsOf(document.runId)).filter(isDispatchOf("T-002"))).toHaveLength(1);
  expect(at.landed(document.runId)).toHaveLength(1);
});

test("a task is told what an inspection that it depends on has found", async () => {
  const at = projectOfTest({ "a.txt": "one\n" });
  const found = "a.txt ends before its second line";
  const tasks = [
    edit(1, `grep -c '' a.txt && echo '${found}'`, { kind: "inspect" }),
    edit(2, 'printf %s "$ANTIPHON_TASK" > brief.json', { dependencies: [1], checks: ["test -s brief.json"] }),
  ];
  const { document } = await run(at, ["--plan", plan("inspected", tasks), "--command", "false"]);
  expect(document, document.message).toMatchObject({ status: "succeeded" });
  const brief = at.git("show", `${document.commit}:brief.json`);
  expect((JSON.parse(brief) as { earlier: object[] }).earlier).toMatchObject([
    { task: "T-001", kind: "inspect", output: `1\n${found}` },
  ]);
});

test("a reset goes back to a checkpoint as a verified change; the next task knows; nothing of a hostile repository runs", async () => {
  const ran = join(scratch, "ran");
  const at = projectOfTest({
    "a.txt": "one\n",
    ".gitattributes": "*.txt text eol=crlf ident filter=evil\n",
    ".gitmodules": '[submodule "x"]\n\tpath = x\n\turl = ext::sh -c "touch /tmp/x"\n',
  });
  at.write(".git/hooks/post-checkout", `#!/bin/sh\ntouch ${ran}\n`, 0o755);
  for (const key of ["filter.evil.smudge", "filter.evil.clean", "core.fsmonitor"])
    at.git("config", key, `touch ${ran}; cat`);
  const hostile = [
    "printf 'two\\n' > a.txt && printf 'new $Id$\\n' > b.txt",
    "mkdir -p .git/hooks && printf '#!/bin/sh\\nexit 7\\n' > .git/hooks/post-checkout && chmod +x .git/hooks/post-checkout",
    "git config core.hooksPath .git/hooks && git config alias.reset '!false' && git commit -qam mine",
  ].join(" && ");
  const tasks = [
    edit(1, "printf 'kept\\n' > kept.txt", { checks: ["test -s kept.txt"] }),
    git(2, "git_checkpoint", { dependencies: [1] }),
    edit(3, hostile, { dependencies: [2], checks: ["test -s b.txt"] }),
    git(4, "git_status", { dependencies: [3] }),
    git(5, "git_reset", { dependencies: [4], base_ref: "T-002", checks: ["test ! -e b.txt"] }),
    edit(6, 'printf %s "$ANTIPHON_TASK" > brief.json', { dependencies: [5], checks: ["test -s brief.json"] }),
    git(7, "git_reset", { dependencies: [6], base_ref: "T-006", checks: ["test -s brief.json"] }),
    git(8, "git_checkout", {
      dependencies: [7],
      base_ref: "T-003",
      allowed_files: ["{a,b,none}.*", "gone/**"],
      disallowed_files: ["a.*"],
      checks: ["test -s b.txt"],
    }),
  ];
  const { document } = await run(at, ["--plan", plan("back", tasks), "--command", "false", "--history", "1"]);
  expect(document, document.message).toMatchObject({ status: "succeeded" });
  const commitOf = (id: number) => document.tasks.find(({ task }) => task === `T-00${id}`)?.commit ?? null;
  expect([1, 2, 3, 4, 5, 6, 7, 8].map((id) => commitOf(id) !== null)).toEqual([
    true,
    false,
    true,
    false,
    true,
    true,
    false,
    true,
  ]);
  const landed = at.landed(document.runId);
  expect(landed).toEqual([1, 3, 5, 6, 8].map(commitOf));
  // The reset landed as a commit of the Director's above all others, with the tree of the checkpoint to the byte.
  expect(at.git("rev-parse", `${landed[2]}^{tree}`)).toBe(at.git("rev-parse", `${landed[0]}^{tree}`));
  expect(at.git("show", "--name-only", "--format=", landed[4]!).trim()).toBe("b.txt");
  expect(at.git("cat-file", "blob", `${landed[4]}:b.txt`)).toBe("new $Id$\n");
  expect(at.git("log", "--format=%an", `main..${landed[4]}`)).not.toContain("Agent");
  expect(existsSync(ran)).toBe(false);

  const records = await recordsOf(document.runId);
  const dispatchOf = (id: number) =>
    records.find(({ type, taskId }) => type === "dispatch" && taskId === `T-00${id}`)?.body;
  expect(dispatchOf(5)?.task?.base_ref).toBe(landed[0]);
  expect(dispatchOf(7)?.task?.base_ref).toBe(landed[3]);
  expect(
    records.some(({ type, body }) => type === "dispatch" && JSON.stringify(body).includes("model_budget")),
  ).toBe(false);

  const brief = JSON.parse(at.git("show", `${landed[3]}:brief.json`)) as {
    earlier: { task: string; kind: string; commit: string; summary: string; output?: string }[];
  };
  expect(brief.earlier.map(({ task, kind }) => `${task} ${kind}`)).toEqual([
    "T-001 edit_repo",
    "T-002 git",
    "T-003 edit_repo",
    "T-004 git",
    "T-005 git",
  ]);
  const [, checkpoint, , status, reset] = brief.earlier;
  expect(checkpoint?.commit).toBe(landed[0]);
  expect(checkpoint?.output).toContain(`commit ${landed[0]}\ntree `);
  expect(status?.output).toMatch(/^## .*\n[0-9a-f]+ .*\n(.*\n)* b\.txt +\| 1 \+\n/m);
  expect(reset?.commit).toBe(landed[2]);
  expect(reset?.summary).toContain(`git_reset to ${landed[0]?.slice(0, 12)}`);

  const out = join(scratch, "export");
  await stack.antiphon(["evidence", "export", document.runId, "--out", out]);
  const again = projectOfTest({ "README.md": "# Again\n" });
  const script =
    "case $ANTIPHON_TASK_ID in T-001) echo > kept.txt;; T-003) echo > b.txt;; *) echo > brief.json;; esac";
  const second = await run(again, ["Try again", "--plan", out, "--command", script]);
  expect(second.document, second.document.message).toMatchObject({ status: "succeeded" });
  expect(again.landed(second.document.runId)).toHaveLength(5);
});

test("a git task whose Associate is killed is done by the next one, and lands once", async () => {
  const at = projectOfTest({ "a.txt": "one\n" });
  const tasks = [
    edit(1, "echo two > a.txt", { checks: ["grep -q two a.txt"] }),
    git(2, "git_reset", { dependencies: [1], checks: ["sleep 2; grep -q one a.txt"] }),
  ];
  const begun = await run(at, ["--plan", plan("killed", tasks), "--command", "true", "--detach"]);
  const { runId } = begun.document;
  const has = async (type: string) =>
    (await recordsOf(runId)).some((one) => one.type === type && one.taskId === "T-002");
  await eventually("the reset is claimed", async () => ((await has("claim")) ? true : null), 60_000);
  process.kill(stack.pid("associate-1"), "SIGKILL");
  const view = await eventually(
    "the run is over",
    async () => {
      const now = (await (await fetch(`${stack.ready.gateway}/runs/${runId}`)).json()) as { status: string };
      return ["succeeded", "failed"].includes(now.status) ? now.status : null;
    },
    patient(90_000),
  );
  expect(view).toBe("succeeded");
  expect(at.landed(runId)).toHaveLength(2);
  expect(at.git("show", `antiphon/${runId}:a.txt`)).toBe("one\n");
});
