/** A run that asks a person: for a check, by the program of an agent, by a protocol, by an exit code. */
import { expect, test, vi } from "vitest";
import { attemptContainers, dockerContainers, processesOf } from "./support/containers.ts";
import { BROKEN_CALCULATOR, CHECK, FIX } from "./support/project.ts";
import { runsOverHttp } from "./support/runs-over-http.ts";

const { stack, make, begin, view, until } = runsOverHttp();

test("if no check is found, no agent starts; the run asks for one, and an answer is the check that its change is held to", async () => {
  const project = make({ "a.txt": "a\n", "package.json": '{"scripts":{"lint":"true"}}' });
  const words = ["run", "Add b", "--repo", project.path, "--command", "echo b > b.txt"];
  const began = await stack().antiphon(words);
  expect(began.code).toBe(3);
  expect(began.stdout).toContain("Which command proves the change?");
  expect(began.stdout).toContain("perhaps `npm run lint`");
  const runId = /run_[a-z0-9]+/.exec(began.stdout)?.[0] ?? "";
  expect((await view(runId)).steps).toMatchObject([{ phase: "waiting_input", attempts: 0, verdict: null }]);
  expect([await dockerContainers(runId), await processesOf(runId)]).toEqual([[], ""]);
  for (const shown of [
    ["runs", "--status", "waiting_input"],
    ["get", runId],
  ]) {
    const { stdout } = await stack().antiphon(shown);
    expect(stdout, shown.join(" ")).toContain(runId);
  }
  expect((await stack().antiphon(["get", runId])).stdout).toContain(`antiphon answer ${runId}`);
  const refused = await stack().antiphon(["answer", runId, " "]);
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("ANT_ANSWER_NO_CHECK")]);
  expect((await stack().antiphon(["answer", runId, "grep -q b b.txt"])).code).toBe(0);
  await until(runId, "succeeded");
  expect(project.landed(runId)).toHaveLength(1);
  const { body: evidence } = await stack().http("GET", `/runs/${runId}/evidence`);
  expect(evidence).toMatchObject({ contracts: [{ verification_commands: ["grep -q b b.txt"] }] });
  const { body } = await stack().http("GET", `/runs/${runId}`);
  expect(body).toMatchObject({ steps: [{ verdict: "PASS", epoch: 2, attempts: 1 }] });

  const fork = await stack().json<{ runId: string; status: string }>(["fork", runId, "--at", "T-001:2"]);
  expect(fork.document).toMatchObject({ status: "succeeded" });
  const { body: forked } = await stack().http("GET", `/runs/${fork.document.runId}/evidence`);
  expect(forked, "the fork asks nobody again").toMatchObject({
    contracts: [{ verification_commands: ["grep -q b b.txt"], epoch: 1 }],
  });
});

test("a person may take a change without proof when asked for a check", async () => {
  const project = make({ "a.txt": "a\n" });
  const runId = await begin({ agent: { kind: "scripted", commands: ["echo b > b.txt"] } }, {}, "Add b");
  await until(runId, "waiting_input");
  const asked = await stack().json<{ status: string }>(["get", runId]);
  expect(asked.document).toMatchObject({
    status: "waiting_input",
    tasks: [{ questions: [expect.any(String)] }],
  });
  expect((await stack().antiphon(["answer", runId, "unverified"])).code).toBe(0);
  const end = await until(runId, "succeeded", "failed");
  expect(end).toMatchObject({ status: "succeeded", steps: [{ verdict: "PASS" }] });
  expect(project.landed(runId)).toHaveLength(1);
});

test("if no check is found and nobody is to be asked, the run ends with the remedy unless --allow-unverified", async () => {
  const project = make({ "a.txt": "a\n" });
  const agent = { kind: "scripted", commands: ["echo b > b.txt"] };
  const runId = await begin({ agent }, { end_without_check: true }, "Add b");
  const end = await until(runId, "failed");
  expect(end.steps).toMatchObject([{ verdict: "UNVERIFIABLE", code: "ANT_VERIFY_NO_CHECK" }]);
  expect(end.steps[0]).toMatchObject({ epoch: 0, attempts: 0, associate: null });
  const { stdout } = await stack().antiphon(["run", "get", runId]);
  expect(stdout).toContain("no check was named and none was found");
  expect(stdout).toContain("--check <command>");
  expect(project.landed(runId)).toEqual([]);
  const granted = await begin({ agent }, { allow_unverified: true }, "Add b");
  await until(granted, "succeeded");
  expect(project.landed(granted)).toHaveLength(1);
});

test("a question puts the run in waiting_input, exit code 3, and an answer over HTTP resumes it", async () => {
  const project = make(BROKEN_CALCULATOR);
  const runId = await begin({
    agent: { kind: "scripted", ask: "Which operator?", commands: [FIX] },
    checks: [CHECK],
  });
  await until(runId, "waiting_input");
  const watch = await stack().antiphon(["events", runId]);
  expect(watch.code).toBe(3);
  expect(watch.stdout).toContain("Which operator?");
  const answer = await stack().http("POST", `/runs/${runId}/events`, {
    event: "approval",
    choice: "approve",
  });
  expect(answer.status).toBeLessThan(300);
  await until(runId, "succeeded");
  expect(project.landed(runId)).toHaveLength(1);
  const late = await stack().http("POST", `/runs/${runId}/events`, { event: "approval", choice: "approve" });
  expect(late.status).toBe(409);
});

test("an agent that runs antiphon-ask waits in its container, and goes on with what a person answers", async () => {
  const project = make(BROKEN_CALCULATOR);
  const ask = 'word=$(antiphon-ask "Fix the sum?" --choice yes --choice no) || exit 1';
  const agent = { kind: "command", argv: ["sh", "-c", `${ask}; [ "$word" = yes ] && ${FIX}`] };
  const runId = await begin({ agent, checks: [CHECK] });
  await until(runId, "waiting_input");
  const { stdout } = await stack().antiphon(["get", runId]);
  expect(stdout).toContain("Fix the sum? [yes | no]");
  const [container, ...others] = await attemptContainers(runId);
  expect([container === undefined, others]).toEqual([false, []]);
  expect((await stack().antiphon(["answer", runId, "yes"])).code).toBe(0);
  expect((await stack().antiphon(["answer", runId, "no"])).code).not.toBe(0);
  const end = await until(runId, "succeeded", "failed");
  expect(end).toMatchObject({ status: "succeeded", steps: [{ epoch: 2 }] });
  expect(project.landed(runId)).toHaveLength(1);
});

test("a scripted command that names antiphon-ask waits for the answer of a person as well", async () => {
  make(BROKEN_CALCULATOR);
  const ask = `[ "$(antiphon-ask "Fix the sum?" --choice yes --choice no)" = yes ] && ${FIX}`;
  const runId = await begin({ agent: { kind: "scripted", commands: [ask] }, checks: [CHECK] });
  await until(runId, "waiting_input");
  expect((await stack().antiphon(["get", runId])).stdout).toContain("Fix the sum? [yes | no]");
  expect((await stack().antiphon(["answer", runId, "yes"])).code).toBe(0);
  expect(await until(runId, "succeeded", "failed")).toMatchObject({ status: "succeeded" });
});

test("an agent asks by the protocol of its pack, and what it asked with does not land", async () => {
  const project = make(BROKEN_CALCULATOR);
  const ask = `echo "Fix the sum?" > .own-question; exit 9`;
  const script = `echo x > .own-question; case "$ANTIPHON_TASK" in *'"answer":"yes"'*) ${FIX};; *) ${ask};; esac`;
  const agent = {
    ...{ kind: "pack", name: "own", install: [], tools: [], path: [], prompt: "stdin", env: {}, junk: [] },
    ...{ argv: ["sh", "-c", script], asks: { exit_code: 9, file: ".own-question" } },
  };
  const runId = await begin({ agent, checks: [CHECK] });
  await until(runId, "waiting_input");
  expect((await stack().antiphon(["get", runId])).stdout).toContain("Fix the sum?");
  expect((await stack().antiphon(["answer", runId, "yes"])).code).toBe(0);
  expect(await until(runId, "succeeded", "failed")).toMatchObject({ status: "succeeded" });
  expect(project.git("ls-tree", "--name-only", `antiphon/${runId}`)).not.toContain(".own-question");
});

test("an agent that exits 78 asks what it wrote to .antiphon/question.json", async () => {
  make(BROKEN_CALCULATOR);
  const left = `{"question": "Fix the sum?", "choices": ["yes", "no"]}`;
  const ask = `mkdir -p .antiphon; echo '${left}' > .antiphon/question.json; exit 78`;
  const script = `case "$ANTIPHON_TASK" in *'"answer":"yes"'*) ${FIX};; *) ${ask};; esac`;
  const runId = await begin({ agent: { kind: "command", argv: ["sh", "-c", script] }, checks: [CHECK] });
  await until(runId, "waiting_input");
  expect((await stack().antiphon(["get", runId])).stdout).toContain("Fix the sum? [yes | no]");
  expect((await stack().antiphon(["answer", runId, "yes"])).code).toBe(0);
  expect(await until(runId, "succeeded", "failed")).toMatchObject({ status: "succeeded" });
});

test("a refused question ends the run, and the container of the program that asked is removed", async () => {
  make(BROKEN_CALCULATOR);
  const ask = `echo "Fix the sum?" > "$ANTIPHON_QUESTION_FILE"`;
  // Where a sandbox is to spare, the check meanwhile runs on the base, in a container of its own that ends with the run.
  const checks = [`sleep 300; ${CHECK}`];
  const runId = await begin({ agent: { kind: "command", argv: ["sh", "-c", ask] }, checks });
  await until(runId, "waiting_input");
  expect(await attemptContainers(runId)).toHaveLength(1);
  const event = { event: "approval", choice: "reject" };
  expect((await stack().http("POST", `/runs/${runId}/events`, event)).status).toBeLessThan(300);
  await until(runId, "failed");
  await vi.waitFor(async () => expect(await dockerContainers(runId)).toEqual([]), 30_000);
});
