import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { isNight } from "../support/night.ts";
import { dockerContainers, processesOf } from "./support/containers.ts";
import { BREAK, BROKEN_CALCULATOR, CHECK, FIX } from "./support/project.ts";
import { eventually } from "./support/program.ts";
import { runsOverHttp } from "./support/runs-over-http.ts";

const { stack, make, begin, view, until } = runsOverHttp();

test("a liar whose patch breaks the check is rejected by the clean room, told why, retried, and ends failed with evidence", async () => {
  const project = make(BROKEN_CALCULATOR);
  const liar = { kind: "scripted", claim: "ok", commands: [`${BREAK}; echo "// $ANTIPHON_EPOCH" >> add.js`] };
  const runId = await begin({ agent: liar, checks: [CHECK] }, { max_attempts: 2 });
  const end = await until(runId, "failed");
  expect(end.steps).toMatchObject([
    { status: "failed", epoch: 2, verdict: "FAIL", code: "ANT_VERIFY_CHECK_FAILED" },
  ]);
  expect(project.landed(runId)).toEqual([]);
  const { document } = await stack().json<{ feedback?: unknown }>(["evidence", "get", runId]);
  expect(JSON.stringify(document)).toContain(`${runId}.T-001.2.verdict`);
  const { stdout } = await stack().antiphon(["run", "get", runId]);
  expect(stdout).toContain("ANT_VERIFY_CHECK_FAILED");
});

test("a change whose check fails without any change as well is told so, while there are attempts left", async () => {
  const project = make(BROKEN_CALCULATOR);
  const agent = { kind: "command", argv: ["sh", "-c", "sleep 1; echo note > NOTE"] };
  const runId = await begin({ agent, checks: [CHECK] }, { max_attempts: 4 }, "Add a note to the docs");
  await until(runId, "failed");
  const { stdout } = await stack().antiphon(["events", runId]);
  expect(stdout).toContain(
    `with feedback: without any change, \`${CHECK}\` fails as well; \`${CHECK}\` exited`,
  );
  expect(project.landed(runId)).toEqual([]);
});

test("a commit over the limit ends its run before an agent starts, says how large it is, and stays as it is", async () => {
  const project = make(BROKEN_CALCULATOR);
  // Not execFileSync: while it reads a gigabyte, the gateway would close a connection that `fetch` then uses again.
  const git = async (...args: string[]): Promise<string> =>
    (await promisify(execFile)("git", args, { cwd: project.path, encoding: "utf8" })).stdout.trim();
  const file = join(project.path, "f0");
  writeFileSync(file, "");
  truncateSync(file, 2 ** 30);
  const blob = await git(
    "-c",
    "core.compression=1",
    "-c",
    "core.bigFileThreshold=1m",
    "hash-object",
    "-w",
    "f0",
  );
  rmSync(file);
  for (const name of ["f0", "f1", "f2", "f3"])
    await git("update-index", "--add", "--cacheinfo", `100644,${blob},${name}`);
  await git(
    "-c",
    "user.name=Ada",
    "-c",
    "user.email=ada@example.test",
    "commit",
    "--quiet",
    "--message",
    "Grow",
  );
  const refs = await git("for-each-ref");
  const agent = { kind: "command", argv: ["sh", "-c", `echo started; ${FIX}`] };
  const runId = await begin({ agent, checks: [CHECK] }, { allow_dirty: true });
  await until(runId, "failed", "succeeded");
  const { stdout } = await stack().antiphon(["get", runId]);
  expect(stdout).toContain("ANT_REPO_TOO_LARGE");
  expect(stdout).toMatch(/has 42949\d+ bytes of files; the limit is 4294967296 bytes/);
  const { document } = await stack().json<object>(["evidence", "get", runId]);
  expect(JSON.stringify(document)).not.toContain("started\\n");
  expect(await git("for-each-ref")).toBe(refs);
});

test("an agent is not started, and no other attempt is made, when the program of a check is missing", async () => {
  const project = make(BROKEN_CALCULATOR);
  const agent = { kind: "command", argv: ["sh", "-c", `echo started; ${FIX}`] };
  const runId = await begin({ agent, checks: [CHECK, "no-such-tool --all"] });
  const end = await until(runId, "failed", "succeeded");
  expect(end.steps).toMatchObject([
    { status: "failed", epoch: 1, attempts: 1, code: "ANT_VERIFY_NO_PROGRAM" },
  ]);
  const { stdout } = await stack().antiphon(["get", runId]);
  expect(stdout).toContain("the sandbox has no program no-such-tool");
  const { document } = await stack().json<object>(["evidence", "get", runId]);
  expect(JSON.stringify(document)).not.toContain("started\\n");
  expect(project.landed(runId)).toEqual([]);
});

/** An installed agent whose own program is on its path only. */
const installed = (work: string) => ({
  ...{ kind: "pack", name: "own", tools: ["sh"], env: {}, junk: [], prompt: "stdin" },
  install: [
    "mkdir -p $HOME/.agent && printf '#!/bin/sh\\n' > $HOME/.agent/own-tool && chmod +x $HOME/.agent/own-tool",
  ],
  path: ["/home/sandbox/.agent"],
  argv: ["sh", "-c", `own-tool && ${work}`],
});

test("an agent that is paid for is not dispatched when the clean room lacks the program of a check, which only the agent has", async () => {
  make(BROKEN_CALCULATOR);
  const runId = await begin({ agent: installed(FIX), checks: ["own-tool --all"] });
  const end = await until(runId, "failed", "succeeded");
  expect(end.steps).toMatchObject([{ status: "failed", attempts: 0, code: "ANT_VERIFY_NO_PROGRAM" }]);
  const { stdout } = await stack().antiphon(["get", runId]);
  expect(stdout).toContain("the clean room has no program own-tool");
  const { document } = await stack().json<object>(["evidence", "get", runId]);
  expect(JSON.stringify(document)).toContain("checks/base/01.stderr.txt");
});

test("an agent that is paid for is not dispatched when the check is a protected file that is not executable", async () => {
  make({ ...BROKEN_CALCULATOR, "check.sh": `#!/bin/sh\n${CHECK}\n` });
  const runId = await begin({ agent: installed(FIX), checks: ["./check.sh"] });
  const end = await until(runId, "failed", "succeeded");
  expect(end.steps).toMatchObject([{ status: "failed", attempts: 0, code: "ANT_VERIFY_NO_PROGRAM" }]);
  expect((await stack().antiphon(["get", runId])).stdout).toContain("check.sh is not executable");
});

test("an agent that is paid for is dispatched when the check is a file that it is to write", async () => {
  make(BROKEN_CALCULATOR);
  const work = `${FIX}; printf '#!/bin/sh\\n${CHECK}\\n' > check-add; chmod +x check-add`;
  const runId = await begin({ agent: installed(work), checks: ["./check-add"] });
  const end = await until(runId, "succeeded", "failed");
  expect(end.steps).toMatchObject([{ status: "done", epoch: 1, verdict: "PASS" }]);
});

test("the next attempt gets the reason for the last rejection, and its diff", async () => {
  const project = make(BROKEN_CALCULATOR);
  const learner = {
    kind: "command",
    argv: [
      "sh",
      "-c",
      `cat > /tmp/task.json; if grep -q ANT_VERIFY /tmp/task.json && grep -q "previous_diff.*+++ b/add.js" /tmp/task.json; then ${FIX}; else ${BREAK}; fi`,
    ],
  };
  const runId = await begin({ agent: learner, checks: [CHECK] });
  const end = await until(runId, "succeeded", "failed");
  expect(end.steps).toMatchObject([{ status: "done", epoch: 2, verdict: "PASS" }]);
  expect(project.landed(runId)).toHaveLength(1);
});

test("a check that also passes without the change proves nothing, and the change does not land", async () => {
  const project = make({ "a.txt": "a\n" });
  const runId = await begin({ agent: { kind: "scripted", commands: ["echo b > b.txt"] }, checks: ["true"] });
  const end = await until(runId, "failed");
  expect(end.steps).toMatchObject([{ verdict: "UNVERIFIABLE", code: "ANT_VERIFY_PROVES_NOTHING", epoch: 1 }]);
  expect(project.landed(runId)).toEqual([]);
});

const CLOSE = "mkdir -p deep/er; echo x > deep/er/file; chmod 000 add.js deep/er/file deep/er deep .";

test("an agent and a check that close files, directories and the workspace cost no attempt", async () => {
  const project = make(BROKEN_CALCULATOR);
  const check = `${CHECK}; passed=$?; chmod -R a-w .; chmod 000 add.js .; exit $passed`;
  const agent = { kind: "scripted", claim: "ok", commands: [`${FIX}; ${CLOSE}`] };
  const runId = await begin({ agent, checks: [check] });
  const end = await until(runId, "succeeded", "failed");
  expect(end.steps).toMatchObject([{ status: "done", epoch: 1, attempts: 1, verdict: "PASS" }]);
  expect(project.landed(runId)).toHaveLength(1);
});

test("an agent that closes what its own check needs fails by that check", async () => {
  make(BROKEN_CALCULATOR);
  const agent = { kind: "scripted", commands: [`${FIX}; ${CLOSE}`] };
  const runId = await begin({ agent, checks: [CHECK] }, { max_attempts: 1 });
  const end = await until(runId, "succeeded", "failed");
  expect(end.steps).toMatchObject([{ status: "failed", epoch: 1, code: "ANT_VERIFY_SELF_FAILED" }]);
});

test("a change to a test without a grant is refused, and lands with the command that the run ends with, without its agent", async () => {
  const project = make(BROKEN_CALCULATOR);
  const agent = { kind: "command", argv: ["sh", "-c", `${FIX}; echo '// and more' >> test.js`] };
  const runId = await begin({ agent, checks: [CHECK] }, { max_attempts: 1 });
  const end = await until(runId, "failed");
  expect(end.steps[0]?.code).toBe("ANT_PATCH_PROTECTED");
  expect(project.landed(runId)).toEqual([]);
  const shown = await stack().antiphon(["get", runId]);
  const [, command = ""] = /allow it +antiphon (run .+)/.exec(shown.stdout) ?? [];
  expect(command).toBe(`run --patch ${runId} --grant test.js`);
  const { document } = await stack().json<{ runId: string; status: string; goal: string }>(
    command.split(" "),
  );
  expect(document).toMatchObject({ status: "succeeded", goal: "Fix the broken add" });
  expect(project.landed(document.runId)).toHaveLength(1);
});

test("a check that fails and then passes on the same tree is reported as flaky", async () => {
  const project = make({ "a.txt": "a\n" });
  // Fails if it starts before a second that the attempt names, and then waits for that second, so the second check of the
  // same tree passes.
  const named = "$(cat until)";
  const flaky = `test $(date +%s) -ge ${named} || { while test $(date +%s) -lt ${named}; do sleep 0.1; done; exit 1; }`;
  const liar = { kind: "scripted", claim: "ok", commands: ["echo $(($(date +%s) + 15)) > until"] };
  const runId = await begin(
    { agent: liar, checks: [flaky], workflow: "BUILD" },
    { max_attempts: 1 },
    "Add b",
  );
  const end = await until(runId, "succeeded", "failed");
  expect(end.steps).toMatchObject([{ status: "failed", verdict: "FLAKY", code: "ANT_VERIFY_FLAKY" }]);
  expect(project.landed(runId)).toEqual([]);
});

test("a task that exceeds its time budget is killed and reported as such", async () => {
  make(BROKEN_CALCULATOR);
  const runId = await begin(
    { agent: { kind: "scripted", commands: ["sleep 600"] }, checks: [CHECK] },
    { time_budget_s: 2, max_attempts: 1 },
  );
  const end = await until(runId, "failed");
  expect(end.steps).toMatchObject([{ status: "failed", code: "ANT_TASK_TIME_BUDGET" }]);
  await eventually(
    "no container of the run",
    async () => ((await dockerContainers(runId)).length === 0 ? true : null),
    5_000,
  );
});

if (isNight)
  test("what an attempt did until its time was over is kept, shown, and taken up by another run", async () => {
    const project = make(BROKEN_CALCULATOR);
    const runId = await begin(
      { agent: { kind: "command", argv: ["sh", "-c", `${FIX}; sleep 600`] }, checks: [CHECK] },
      { time_budget_s: 10, max_attempts: 1 },
    );
    await until(runId, "failed");
    const diff = await stack().antiphon(["diff", runId]);
    expect(diff.stdout).toContain("--- a/add.js");
    const { document } = await stack().json<{ runId: string; status: string }>([
      ...["run", "Fix the broken add", "--repo", project.path, "--check", CHECK, "--patch", runId],
    ]);
    expect(document).toMatchObject({ status: "succeeded" });
    expect(project.landed(document.runId)).toHaveLength(1);
    const none = await stack().antiphon(["run", "x", "--repo", project.path, "--patch", "run_0"]);
    expect([none.code, none.stderr]).toEqual([expect.any(Number), expect.stringContaining("ANT_")]);
    expect(none.code).not.toBe(0);
  });

test.each<[end: string, limit: { run_time_budget_s?: number }]>([
  ["canceled", {}],
  ["over its time budget", { run_time_budget_s: 10 }],
])(
  "what an attempt did in a run that is %s is kept, shown, and taken up by another run",
  async (_, limit) => {
    const project = make(BROKEN_CALCULATOR);
    const agent = { kind: "command", argv: ["sh", "-c", `${FIX}; sleep 600`] };
    const runId = await begin({ agent, checks: [CHECK] }, limit);
    if ("run_time_budget_s" in limit) await until(runId, "failed");
    else {
      await eventually("the fix", async () =>
        (await processesOf(runId)).includes("sleep 600") ? true : null,
      );
      expect((await stack().antiphon(["cancel", runId])).code).toBe(0);
      await until(runId, "canceled");
    }
    const diff = await eventually("the evidence of the attempt", async () => {
      const { code, stdout } = await stack().antiphon(["diff", runId]);
      return code === 0 ? stdout : null;
    });
    expect(diff).toContain("--- a/add.js");
    expect(project.landed(runId)).toEqual([]);
    expect((await stack().antiphon(["doctor", "--journal", runId])).code).toBe(0);
    const { document } = await stack().json<{ runId: string; status: string }>([
      ...["run", "Fix the broken add", "--repo", project.path, "--check", CHECK, "--patch", runId],
    ]);
    expect(document).toMatchObject({ status: "succeeded" });
    expect(project.landed(document.runId)).toHaveLength(1);
  },
);

test("the second attempt is told the failure in the middle of a long output of its own check", async () => {
  make(BROKEN_CALCULATOR);
  const noise = (from: number) => `seq ${from} ${from + 3000} | sed "s/^/ok /"`;
  // The command itself, which is told too, does not hold the words that it prints.
  const check = `${CHECK} || { ${noise(1)}; echo "not ok: $((40 + 2))"; ${noise(5000)}; exit 1; }`;
  const agent = `if grep -q "not ok: 42"; then ${FIX}; else echo x > noted; fi`;
  const runId = await begin(
    { agent: { kind: "command", argv: ["sh", "-c", agent] }, checks: [check] },
    { max_attempts: 2 },
  );
  const end = await until(runId, "succeeded", "failed");
  expect(end).toMatchObject({ status: "succeeded", steps: [{ epoch: 2 }] });
});

test("with --continue the next attempt starts from the change of the one before", async () => {
  const project = make(BROKEN_CALCULATOR);
  const agent = `if [ -f half.txt ]; then ${FIX}; else echo half > half.txt; fi`;
  const { document } = await stack().json<{ runId: string; status: string }>([
    ...["run", "Fix the broken add", "--repo", project.path, "--check", CHECK],
    ...["--continue", "--attempts", "2", "--command", agent],
  ]);
  expect(document).toMatchObject({ status: "succeeded" });
  const { stdout } = await stack().antiphon(["diff", document.runId]);
  expect(stdout).toMatch(/^\+half$/m);
  expect(stdout).toContain("--- a/add.js");
});

test("a rejected attempt hands its task over to the next agent, which is told the change and why it failed", async () => {
  const project = make(BROKEN_CALCULATOR);
  const packs = mkdtempSync(join(tmpdir(), "antiphon-packs-"));
  const makePack = (name: string, script: string): string => {
    const argv = ["sh", "-c", script];
    mkdirSync(join(packs, name));
    const pack = { name, description: name, argv, prompt: "stdin" };
    writeFileSync(join(packs, name, "agent.yaml"), JSON.stringify(pack));
    return join(packs, name);
  };
  const first = makePack("first", "cat > /dev/null; echo tried > first.txt");
  const told = 'prompt=$(cat); case $prompt in *"+tried"*)';
  const second = makePack("second", `${told} case $prompt in *"sum is wrong"*) ${FIX};; esac;; esac`);
  const check = `${CHECK} || { echo "the sum is wrong"; exit 1; }`;
  try {
    const { document } = await stack().json<{ runId: string; status: string }>([
      ...["run", "Fix the broken add", "--repo", project.path, "--check", check],
      ...["--agent", `${first},${second}`],
    ]);
    expect(document).toMatchObject({ status: "succeeded" });
    const { stdout } = await stack().antiphon(["events", document.runId]);
    expect(stdout).toContain("attempt 1 by first");
    expect(stdout).toContain("attempt 2 by second, with feedback: ");
    const bad = await stack().antiphon(["run", "x", "--repo", project.path, "--agent", `${first},command`]);
    expect([bad.code, bad.stderr]).toEqual([2, expect.stringContaining("only packs hand over")]);
  } finally {
    rmSync(packs, { recursive: true });
  }
});

test("a cancelled run stops its container within 5 s and never lands", async () => {
  const project = make(BROKEN_CALCULATOR);
  const runId = await begin({ agent: { kind: "scripted", commands: ["sleep 600"] }, checks: [CHECK] });
  await eventually("a container of the run", async () =>
    (await dockerContainers(runId)).length > 0 ? true : null,
  );
  const { code } = await stack().antiphon(["cancel", runId]);
  expect(code).toBe(0);
  const canceledAt = Date.now();
  await eventually(
    "no container of the run",
    async () => ((await dockerContainers(runId)).length === 0 ? true : null),
    8_000,
  );
  expect(Date.now() - canceledAt).toBeLessThan(5_000);
  await until(runId, "canceled");
  expect(project.landed(runId)).toEqual([]);
});

test("a run cancelled during verification stops the clean room's container, and never lands", async () => {
  const project = make(BROKEN_CALCULATOR);
  const liar = { kind: "scripted", claim: "ok", commands: [FIX] };
  const runId = await begin({ agent: liar, checks: [`sleep 600; ${CHECK}`] });
  await eventually("the clean room", async () =>
    (await view(runId)).steps[0]?.phase === "verifying" ? true : null,
  );
  await eventually("its container", async () => ((await dockerContainers(runId)).length > 0 ? true : null));
  expect((await stack().antiphon(["cancel", runId])).code).toBe(0);
  const canceledAt = Date.now();
  await eventually(
    "no container",
    async () => ((await dockerContainers(runId)).length === 0 ? true : null),
    8_000,
  );
  expect(Date.now() - canceledAt).toBeLessThan(5_000);
  expect(project.landed(runId)).toEqual([]);
});
