import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { intentIdOf, type PlannedTask } from "@antiphon/contracts";
import { stringify } from "yaml";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { BROKEN_CALCULATOR, makeProject, type Project } from "./support/project.ts";
import { eventually } from "./support/program.ts";
import { startQuickStack, type Stack } from "./support/stack.ts";

let stack: Stack;
const scratch = mkdtempSync(join(tmpdir(), "antiphon-plans-"));
const projects: Project[] = [];

beforeAll(async () => {
  stack = await startQuickStack({ associates: 2 });
});
afterEach(() => {
  for (const project of projects.splice(0)) project.remove();
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
  tasks: { task: string; code: string | null; message: string; verdict: string | null; attempts: number }[];
  plan?: { tasks: { id: number }[] };
  review?: { decision: string; findings: { file: string; line: number }[]; dropped: { reason: string }[] };
}

function project(files: Record<string, string>): Project {
  const made = makeProject(files);
  projects.push(made);
  return made;
}

function file(name: string, content: unknown): string {
  const path = join(scratch, name);
  writeFileSync(path, typeof content === "string" ? content : stringify(content));
  return path;
}

/** An agent that runs a shell script. */
const shell = (script: string): string[] => ["--agent", "command", "--", "sh", "-c", script];
const run = async (at: Project, args: readonly string[]) => {
  const own = args.indexOf("--");
  const [flags, program] = own < 0 ? [args, []] : [args.slice(0, own), args.slice(own)];
  return stack.json<Shown>(["run", ...flags, "--repo", at.path, ...program]);
};

async function recordsOf(runId: string) {
  const answer = await fetch(`${stack.ready.gateway}/runs/${runId}/events`, {
    headers: { accept: "application/json" },
  });
  const { records } = (await answer.json()) as {
    records: { type: string; taskId: string | null; body: Record<string, unknown> }[];
  };
  return records;
}

/** The goal and the tasks of a run, as its records have them. */
async function planOf(runId: string) {
  const records = await eventually(`${runId} is routed`, async () => {
    const all = await recordsOf(runId);
    return all.some(({ type }) => type === "routed") ? all : null;
  });
  const intent = records.find(({ type }) => type === "intent")?.body as { intent: { goal: string } };
  const routed = records.find(({ type }) => type === "routed")?.body as { tasks: PlannedTask[] };
  const tasks = routed.tasks.map(({ task, deps, scope, criteria }) => {
    const { task_id, kind, instruction, verify_profile } = task;
    const { allowed_files = [], disallowed_files = [] } = scope ?? {};
    const files = { allowed_files, disallowed_files };
    return { task_id, kind, instruction, deps, checks: verify_profile.commands, files, criteria };
  });
  return { goal: intent.intent.goal, tasks };
}

const commands = (...lines: string[]) => ({ kind: "scripted", commands: lines });

describe("a plan that a person wrote", () => {
  test("mends nothing if none of its changes fails without it, and does if one of them does", async () => {
    const tasks = (first: string) => ({
      goal: "Fix the calculator",
      tasks: [
        { id: 1, description: "First", agent: commands(first) },
        { id: 2, description: "Then", agent: commands("echo '// b' >> b.js"), dependencies: [1] },
      ],
    });
    const files = { "a.js": "module.exports = 2;\n", "b.js": "module.exports = 1;\n" };
    const debug = (name: string, first: string, value: number) => {
      const check = `node -e "if (require('./a.js') !== ${value} || !require('./b.js')) process.exit(1)"`;
      const plan = ["--plan", file(name, tasks(first)), "--workflow", "DEBUG"];
      return run(project(files), [...plan, "--check", check]);
    };
    const { document } = await debug("nothing.yaml", "echo '// a' >> a.js", 2);
    expect(document).toMatchObject({
      status: "failed",
      tasks: [{ verdict: "PASS" }, { verdict: "UNVERIFIABLE", code: "ANT_VERIFY_PROVES_NOTHING" }],
    });
    const { document: mended } = await debug("fix.yaml", "sed -i s/2/1/ a.js", 1);
    expect(mended, JSON.stringify(mended)).toMatchObject({ status: "succeeded" });
  });

  const STEPS = {
    goal: "Two lines in one file",
    tasks: [
      {
        id: 1,
        description: "Write the first line",
        agent: commands("echo one >> lines.txt"),
        allowed_files: ["lines.txt"],
        acceptance_criteria: [{ criterion: "The first line is there", check: "grep -q one lines.txt" }],
      },
      {
        id: 2,
        description: "Write the second line",
        agent: commands("echo two >> lines.txt"),
        allowed_files: ["*.txt"],
        acceptance_criteria: [{ criterion: "The second line is there", check: "grep -q two lines.txt" }],
      },
    ],
  };

  test("runs: tasks that may change the same file run one after the other, and the reason is said; its export runs again", async () => {
    const at = project({ "README.md": "# Plans\n" });
    const { code, document } = await run(at, ["--plan", file("plan.yaml", STEPS)]);
    expect(document).toMatchObject({ status: "succeeded" });
    expect(code).toBe(0);
    expect(at.landed(document.runId)).toHaveLength(2);
    expect(at.git("show", `${document.commit}:lines.txt`)).toBe("one\ntwo\n");
    const records = await recordsOf(document.runId);
    const routed = records.find(({ type }) => type === "routed")?.body as {
      contract: { memory_notes: string; tasks: { dependencies: number[] }[] };
    };
    expect(routed.contract.memory_notes).toContain(
      "T-002 waits for T-001: the files lines.txt and *.txt overlap",
    );
    expect(routed.contract.tasks[1]?.dependencies).toEqual([1]);
    const order = records.map(({ type, taskId }) => `${type} ${taskId ?? ""}`);
    expect(order.indexOf("dispatch T-002")).toBeGreaterThan(order.indexOf("landing T-001"));

    const out = join(scratch, "export");
    await stack.antiphon(["evidence", "export", document.runId, "--out", out]);
    const alone = file("router_contract.yaml", readFileSync(join(out, "router_contract.yaml"), "utf8"));
    const closed = await stack.antiphon([
      ...["run", "Again", "--repo", at.path, "--plan", alone, "--command", "true"],
    ]);
    expect(closed.code).toBe(2);
    expect(closed.stderr).toMatch(/ANT_PLAN_INVALID: .*router_contract.yaml:1:1: .*tasks\/T-\*\.yaml/);
    const again = project({ "README.md": "# Again\n" });
    const script = "case $ANTIPHON_TASK_ID in T-001) echo one;; *) echo two;; esac >> lines.txt";
    const second = await run(again, ["Two lines again", "--plan", out, ...shell(script)]);
    expect(second.document).toMatchObject({ status: "succeeded" });
    expect(again.git("show", `${second.document.commit}:lines.txt`)).toBe("one\ntwo\n");
  });

  test("comes back in from the export of its run: waiting, failed and landed, with the same goal, tasks, checks and files", async () => {
    const script = ["--command", "echo x > made.txt"];
    const task = {
      id: 1,
      description: "Make a file",
      allowed_files: ["made.txt"],
      disallowed_files: ["no.txt"],
    };
    const then = { id: 2, description: "Look at it", kind: "inspect", dependencies: [1] };
    const plans = {
      waiting: { goal: "Make it waiting", tasks: [{ ...task, acceptance_criteria: ["It is fine"] }, then] },
      failed: {
        goal: "Make it fail",
        tasks: [{ ...task, checks: ["false"] }, then], // Nobody names its criteria, nor does the export.
      },
      succeeded: {
        goal: "Make it land",
        tasks: [
          { ...task, checks: ["test -s made.txt"], acceptance_criteria: ["`test -s made.txt` holds"] },
          then,
        ],
      },
    };
    for (const [name, plan] of Object.entries(plans)) {
      const at = project({ "README.md": `# ${name}\n` });
      const { document } = await run(at, [
        "--plan",
        file(`${name}.yaml`, plan),
        "--attempts",
        "1",
        ...script,
      ]);
      expect(document.status).toContain(name);
      const out = join(scratch, `export-${name}`);
      await stack.antiphon(["evidence", "export", document.runId, "--out", out]);
      for (const named of [out, join(out, "router_contract.yaml")].slice(0, name === "waiting" ? 1 : 2)) {
        const again = await run(at, ["--plan", named, "--attempts", "1", ...script, "--detach"]);
        expect(await planOf(again.document.runId)).toEqual(await planOf(document.runId));
        await stack.antiphon(["cancel", again.document.runId]);
      }
      await stack.antiphon(["cancel", document.runId]);
    }
  });

  test.each([
    [
      "a criterion that no check decides",
      {
        acceptance_criteria: ["The page looks better", "test -s made.txt passes"],
        checks: ["test -s made.txt"],
      },
      "ANT_VERIFY_CRITERION",
      'no check decides "The page looks better", so no change could land; no agent was started',
    ],
    [
      "a check that passes without the files of the change",
      { acceptance_criteria: [{ criterion: "It works", check: "true" }] },
      "ANT_VERIFY_PROVES_NOTHING",
      "it proves nothing about it",
    ],
    [
      "a file outside the task",
      { checks: ["test -s made.txt"], allowed_files: ["src/**"] },
      "ANT_PATCH_SCOPE",
      "made.txt: outside the files of the task (src/**)",
    ],
    [
      "a file that the plan forbids",
      { checks: ["test -s made.txt"], disallowed_files: ["made.*"] },
      "ANT_PATCH_SCOPE",
      "made.txt: the plan does not allow this task to change it",
    ],
  ])("%s does not land", async (_name, fields, code, words) => {
    const at = project({ "README.md": "# Refused\n" });
    const task = { id: 1, description: "Make a file", agent: commands("echo x > made.txt"), ...fields };
    const plan = file("one.yaml", { goal: "Make a file", tasks: [task] });
    const { document } = await run(at, ["--plan", plan, "--attempts", "1", "--end-without-check"]);
    expect(document).toMatchObject({ status: "failed", code });
    expect(document.message).toContain(words);
    expect(at.landed(document.runId)).toEqual([]);
  });

  test("that is bad is refused with its place, and nothing is stored", async () => {
    const at = project({ "README.md": "# Bad\n" });
    const text =
      "goal: Round\ntasks:\n  - {id: 1, description: a, dependencies: [2]}\n  - {id: 2, description: b, dependencies: [1]}\n";
    const path = file("bad.yaml", text);
    const ended = await stack.antiphon(["run", "--repo", at.path, "--plan", path, "--command", "true"]);
    expect({ code: ended.code, stdout: ended.stdout }).toEqual({ code: 2, stdout: "" });
    expect(ended.stderr).toContain(
      `error ANT_PLAN_INVALID: ${path}:2:1: /tasks: dependencies form a cycle: 1 -> 2 -> 1`,
    );

    const intent = {
      goal: "Round",
      inputs: {
        repo: at.path,
        agent: commands("true"),
        plan: { nodes: [{ id: "a", title: "A", dependsOn: ["b"], tags: [] }] },
      },
      constraints: {},
    };
    const answer = await fetch(`${stack.ready.gateway}/intents`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(intent),
    });
    expect(answer.status).toBe(422);
    expect(await answer.json()).toMatchObject({
      error: { code: "ANT_PLAN_INVALID", path: "/inputs/plan/nodes/0/dependsOn/0" },
    });
    const stored = await fetch(`${stack.ready.gateway}/intents/${intentIdOf(intent, "local")}`);
    expect(stored.status).toBe(404);
  });
});

describe("a PLAN run", () => {
  const GOOD =
    "goal: Say hello\ntasks:\n  - id: 1\n    description: Write the greeting\n    allowed_files: [hello.txt]\n    acceptance_criteria:\n      - {criterion: The greeting is there, check: test -s hello.txt}\n";

  test("ends with a plan that runs; a bad plan is a failed attempt whose fault the next one is told", async () => {
    const at = project({ "README.md": "# Plan\n" });
    const bad = "tasks: [{id: 1, description: x, dependencies: [9]}]";
    const script = `if [ "$ANTIPHON_EPOCH" = 1 ]; then echo '${bad}' > plan.yaml; else grep -q 'does not exist' <<E || exit 9
$ANTIPHON_TASK
E
printf '${GOOD.replaceAll("\n", "\\n")}' > plan.yaml; fi`;
    const { document } = await run(at, ["Plan a greeting", "--workflow", "PLAN", ...shell(script)]);
    expect(document).toMatchObject({ status: "succeeded", commit: null, plan: { tasks: [{ id: 1 }] } });
    expect(document.tasks[0]).toMatchObject({ attempts: 2, verdict: "PASS" });
    const verdicts = (await recordsOf(document.runId)).filter(({ type }) => type === "verdict");
    expect(verdicts[0]?.body).toMatchObject({ verdict: "FAIL", code: "ANT_PLAN_INVALID" });
    expect(verdicts[0]?.body.message).toContain("plan.yaml:1:");
    expect(at.landed(document.runId)).toEqual([]);

    const shown = await stack.antiphon(["get", document.runId]);
    expect(shown.stdout).toContain("plan  1 task\n    1  Write the greeting\n");
    const kept = await stack.antiphon([
      ...["evidence", "get", document.runId, "T-001", "2", "plan/TaskPlan.json", "--verdict"],
    ]);
    expect(JSON.parse(kept.stdout)).toEqual({
      nodes: [{ id: "T-001", title: "Write the greeting", dependsOn: [], tags: [] }],
    });

    const done = await run(at, ["--plan", document.runId, ...shell("echo hello > hello.txt")]);
    expect(done.document).toMatchObject({ status: "succeeded" });
    expect(at.git("show", `${done.document.commit}:hello.txt`)).toBe("hello\n");
  });

  test("lands no source change, and needs its plan", async () => {
    const at = project({ "README.md": "# Plan\n" });
    const flags = ["Plan a greeting", "--workflow", "PLAN", "--attempts", "1"];
    const changed = await run(at, [
      ...flags,
      ...shell(`printf '${GOOD.replaceAll("\n", "\\n")}' > plan.yaml; echo x >> README.md`),
    ]);
    expect(changed.document).toMatchObject({ status: "failed", code: "ANT_TASK_MODIFIED_FILES" });
    const silent = await run(at, [...flags, ...shell("true")]);
    expect(silent.document).toMatchObject({ status: "failed", code: "ANT_PLAN_INVALID" });
    // A plan that the repository holds already is not the agent's.
    const old = await run(project({ "plan.yaml": GOOD }), [...flags, ...shell("true")]);
    expect(old.document).toMatchObject({ status: "failed", code: "ANT_PLAN_INVALID" });
  });
});

describe("a REVIEW run", () => {
  test("ends with findings whose quotes are in the tree; made-up ones are dropped, and red tests do not fail it", async () => {
    const at = project({ ...BROKEN_CALCULATOR, ".gitignore": "*.json\n" });
    const finding = {
      severity: "error",
      file: "add.js",
      line: 7,
      quote: "(a, b) => a - b",
      why: "It subtracts.",
    };
    const findings = {
      findings: [
        { ...finding, file: "ad.js" },
        { ...finding, quote: "a * b", why: "It multiplies." },
        { ...finding, suggestion: "Use a + b." },
      ],
    };
    const script = `cat > findings.json <<'E'\n${JSON.stringify(findings)}\nE\n`;
    const { document } = await run(at, [
      ...["Review the calculator", "--workflow", "REVIEW", "--check", "node test.js", ...shell(script)],
    ]);
    expect(document).toMatchObject({
      status: "succeeded",
      commit: null,
      review: {
        decision: "reject",
        findings: [{ file: "add.js", line: 1, suggestion: "Use a + b." }],
        dropped: [{ reason: "there is no such text file" }, { reason: "the quote is not in the file" }],
      },
    });
    const verdict = (await recordsOf(document.runId)).find(({ type }) => type === "verdict");
    expect(verdict?.body.message).toBe(
      "1 finding (1 error); 2 dropped, because their quotes are not in the tree; node test.js exited 1 on the tree, which decides nothing here",
    );
    const text = await stack.antiphon(["findings", document.runId]);
    expect(text.stdout).toContain("## error: add.js:1\n\n```\n(a, b) => a - b\n```\n\nIt subtracts.");
    const out = join(scratch, "review");
    const exported = await stack.antiphon(["evidence", "export", document.runId, "--out", out]);
    for (const name of ["reviewer.json", "reviewer.md"])
      expect(exported.stdout).toContain(`skills/results/${document.runId}/${name}`);
  });

  test("without findings.json fails with the reason", async () => {
    const at = project(BROKEN_CALCULATOR);
    const flags = ["Review the calculator", "--workflow", "REVIEW", "--attempts", "1"];
    const silent = await run(at, [...flags, ...shell("true")]);
    expect(silent.document).toMatchObject({ status: "failed", code: "ANT_REVIEW_INVALID" });
    const none = await stack.antiphon(["findings", silent.document.runId]);
    expect(none.stderr).toContain("ANT_EVIDENCE_NOT_FOUND");
  });
});

test("a change that another task landed first is empty, and no empty commit lands", async () => {
  const at = project({ "README.md": "# Same\n" });
  const task = (id: number) => ({
    ...{ id, description: `Step ${id}`, dependencies: [], checks: ["test -s same.txt"] },
    agent: commands("sleep 1; echo same > same.txt"),
  });
  const tasks = file("same.yaml", [task(1), task(2)]);
  const { document } = await run(at, ["Write the same twice", "--tasks", tasks, "--attempts", "1"]);
  expect(document).toMatchObject({ status: "failed", code: "ANT_PATCH_EMPTY" });
  expect(document.message).toContain("holds the same change already");
  expect(at.landed(document.runId)).toHaveLength(1);
});
