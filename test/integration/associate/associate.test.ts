import { BUCKETS, digestOfJson, keys, replayKey, subjects, validate } from "@antiphon/contracts";
import { openBlobs, tell } from "@antiphon/runtime";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { dispatchOf } from "../../../services/associate/src/testing/dispatch.fixture.ts";
import { eventually } from "../../support/nats.ts";
import { patient } from "../../support/patience.ts";
import { cleanUpRepos } from "../../support/repo.ts";
import { openWorld, TASK } from "./associate-world.ts";
import type { Sent, World } from "./associate-world.ts";

let world: World;

beforeAll(async () => {
  world = await openWorld();
  await world.associate("as_one");
});

afterAll(async () => {
  await world.close();
  cleanUpRepos();
});

const scripted = (...commands: string[]) => ({ agent: { kind: "scripted" as const, commands } });
const task = (over: Partial<ReturnType<typeof dispatchOf>["task"]>) => ({
  task: { ...dispatchOf().task, ...over },
});
const patchTo = (word: string) =>
  `diff --git a/hello.txt b/hello.txt\nnew file mode 100644\n--- /dev/null\n+++ b/hello.txt\n@@ -0,0 +1 @@\n+${word}\n`;

describe("an attempt that goes well", () => {
  test("is claimed, done in a sandbox, verified, and reported with its evidence", async () => {
    const sent = await world.dispatch(scripted("echo hello > hello.txt", "rm README.md"));
    const body = await world.reported(sent);
    const claim = await world.claim(sent);
    expect(claim.body).toMatchObject({ associate: "as_one" });
    expect(validate("AssociateResult", body.result)).toMatchObject({ ok: true });
    expect(body.result).toMatchObject({
      task_id: TASK,
      status: "ok",
      files_changed: ["hello.txt", "README.md"],
      verify: { status: "pass", commands: ["sh check.sh"] },
    });
    expect(body.result.diff?.content).toContain("+hello");
    expect(body.result.commands_run.map(({ command, exit_code }) => [command, exit_code])).toEqual([
      ["echo hello > hello.txt", 0],
      ["rm README.md", 0],
      ["sh check.sh", 0],
    ]);

    const manifest = await world.manifest(sent);
    expect(validate("EvidenceManifest", manifest)).toMatchObject({ ok: true });
    expect(body.evidence).toEqual({ key: `${sent.runId}.${TASK}.1`, digest: digestOfJson(manifest) });
    expect(manifest).toMatchObject({
      author: "associate",
      author_id: "as_one",
      decision: "propose",
      epoch: 1,
    });
    expect(await world.text(manifest, "diff.patch")).toBe(body.result.diff?.content);
    expect(JSON.parse(await world.text(manifest, "provenance/environment.json"))).toMatchObject({
      agent: "scripted",
      sandbox: { provider: "docker" },
    });
    expect(JSON.parse(await world.text(manifest, "provenance/tools.json"))).toContainEqual(
      expect.stringMatching(/git/),
    );
    await eventually("the dispatch is acknowledged", async () => (await world.unfinished()) === 0);
  });

  test("associate/A6: files that the checks leave behind are not part of the change", async () => {
    const sent = await world.dispatch({
      ...scripted("echo hello > hello.txt"),
      ...task({
        verify_profile: { mode: "smoke", commands: ["mkdir -p coverage && echo x > coverage/report"] },
      }),
    });
    const { result } = await world.reported(sent);
    expect(result.files_changed).toEqual(["hello.txt"]);
  });

  test("a command agent gets the brief on standard input and in its environment", async () => {
    const script = [
      'cat > brief.json && test "$ANTIPHON_EPOCH" = 2 && test "$(cat brief.json)" = "$ANTIPHON_TASK"',
      "&& echo hello > hello.txt",
    ].join(" ");
    const sent = await world.dispatch(
      {
        agent: { kind: "command", argv: ["sh", "-c", script] },
        feedback: [{ epoch: 1, code: "ANT_VERIFY_CHECK_FAILED", message: "try harder", checks: [] }],
        answers: [{ question: "Which?", answer: "Red" }],
      },
      { epoch: 2 },
    );
    const { result } = await world.reported(sent);
    expect(result).toMatchObject({ status: "ok", files_changed: ["brief.json", "hello.txt"] });
    const manifest = await world.manifest(sent);
    const patch = await world.text(manifest, "diff.patch");
    expect(patch).toContain("try harder");
    expect(patch).toContain("Red");
  });

  test("a skill that judges is told nothing by people, whatever is on record", async () => {
    const text = Buffer.from(patchTo("hello"));
    const diff = await openBlobs(world.bus, BUCKETS.evidenceFiles).put(`diff-${Date.now()}`, text);
    const runId = "run_judged";
    const said = { task: TASK, attempt: 1, text: "find nothing", by: "ann" };
    await world.journal.append({ type: "message", runId, taskId: null, epoch: 1, cause: null, body: said });
    const script = `case "$ANTIPHON_TASK$(antiphon-inbox)" in *"find nothing"*) exit 9;; esac; echo hello > hello.txt`;
    const sent = await world.dispatch(
      {
        agent: { kind: "command", argv: ["sh", "-c", script] },
        gate: { skill: "reviewer", task: "T-000", attempt: 1, commit: "a".repeat(40), diff },
      },
      { runId },
    );
    const { result, heard } = await world.reported(sent);
    expect(result.commands_run[0]).toMatchObject({ exit_code: 0 });
    expect(heard).toBeUndefined();
  });

  test("a given patch is applied on the trusted side and verified in the sandbox", async () => {
    const agent = {
      kind: "scripted" as const,
      patch: { files: [{ path: "hello.txt", diff: patchTo("hello") }] },
    };
    const { result, patch } = await world.reported(await world.dispatch({ agent }));
    expect(result).toMatchObject({ status: "ok", files_changed: ["hello.txt"], verify: { status: "pass" } });
    expect(patch).not.toBeNull();
  });

  test("a patch and commands are one change, the commands last", async () => {
    const agent = {
      kind: "scripted" as const,
      patch: { files: [{ path: "hello.txt", diff: patchTo("goodbye") }] },
      commands: ["echo hello > hello.txt", "echo more > more.txt"],
    };
    const { result } = await world.reported(await world.dispatch({ agent }));
    expect(result).toMatchObject({ status: "ok", files_changed: ["hello.txt", "more.txt"] });
    expect(result.diff?.content).not.toContain("goodbye");
  });

  test("a recorded session is replayed: its patch is applied, its transcript kept", async () => {
    const intent = { goal: "Say hello", task_id: TASK };
    const recording = {
      input: { intent, schemaVersion: 0, seed: "s2" },
      output: {
        plan: { nodes: [] },
        patch: { files: [{ path: "hello.txt", diff: patchTo("hello") }] },
        tests: [],
        transcript: [{ role: "assistant", text: "I said hello." }],
      },
    };
    const name = keys.recording(replayKey(recording.input));
    await openBlobs(world.bus, BUCKETS.recordings).put(name, Buffer.from(JSON.stringify(recording)));
    const sent = await world.dispatch({ agent: { kind: "replay", seed: "s2" } });
    expect((await world.reported(sent)).result).toMatchObject({ status: "ok", files_changed: ["hello.txt"] });
    expect(await world.text(await world.manifest(sent), "provenance/transcript.json")).toContain(
      "I said hello.",
    );
  });

  test("progress is published while it works", async () => {
    const sent = await world.dispatch(scripted("echo hello > hello.txt"));
    await world.result(sent);
    await eventually("progress lines", () => {
      const lines = world.progress.filter(({ runId }) => runId === sent.runId).map(({ text }) => text);
      return (
        lines.some((line) => line.includes("taken by as_one")) &&
        lines.some((line) => line.includes("(exit 0)"))
      );
    });
  });
});

describe("honest failures", () => {
  test("a failed check makes the result failed, with the check's output as evidence", async () => {
    const sent = await world.dispatch(scripted("echo goodbye > hello.txt && echo why >&2"));
    const body = await world.reported(sent);
    expect(body).toMatchObject({
      code: "ANT_VERIFY_SELF_FAILED",
      result: { status: "failed", verify: { status: "fail" } },
    });
    expect(await world.manifest(sent)).toMatchObject({ decision: "fail", checks: [{ exit_code: 1 }] });
  });

  test("a failed command ends the attempt before the checks", async () => {
    const sent = await world.dispatch(scripted("echo broken >&2; exit 3"));
    const { code, result } = await world.reported(sent);
    expect(code).toBe("ANT_AGENT_FAILED");
    expect(result.summary).toContain("exited 3: broken");
    expect(result.verify).toMatchObject({ status: "unknown" });
  });

  test("an agent that vouches for itself reports ok although its change breaks the check", async () => {
    const agent = { kind: "scripted" as const, commands: ["echo lies > hello.txt"], claim: "ok" as const };
    const { result } = await world.reported(await world.dispatch({ agent }));
    expect(result).toMatchObject({ status: "ok", verify: { status: "pass", logs_path: null } });
    expect(result.commands_run.map((run) => run.command)).toEqual(["echo lies > hello.txt"]);
  });

  test("without a check the verification is unknown", async () => {
    const sent = await world.dispatch({
      ...scripted("echo hello > hello.txt"),
      ...task({ verify_profile: { mode: "smoke", commands: [] } }),
    });
    const { result } = await world.reported(sent);
    expect(result).toMatchObject({
      status: "ok",
      verify: { status: "unknown" },
      files_changed: ["hello.txt"],
    });
  });

  test("a question is reported as needs_input until the dispatch carries an answer", async () => {
    const agent = { kind: "scripted" as const, commands: ["echo hello > hello.txt"], ask: "Which word?" };
    const first = await world.dispatch({ agent });
    const asked = await world.reported(first);
    expect(asked.result).toMatchObject({ status: "needs_input", questions: ["Which word?"], diff: null });
    const answers = [{ question: "Which word?", answer: "hello" }];
    const second = await world.dispatch({ agent, answers }, { runId: first.runId, epoch: 2 });
    expect((await world.reported(second)).result.status).toBe("ok");
  });

  test.each(["run", "inspect"] as const)("a %s task that changes a file is failed", async (kind) => {
    const sent = await world.dispatch({
      ...scripted("echo x > x.txt"),
      ...task({ kind, verify_profile: { mode: "none", commands: [] } }),
    });
    expect(await world.reported(sent)).toMatchObject({
      code: "ANT_TASK_MODIFIED_FILES",
      result: { status: "failed" },
    });
  });

  test("a patch that does not apply makes the result failed, and the summary says where", async () => {
    const diff = "--- a/README.md\n+++ b/README.md\n@@ -1 +1 @@\n-# Something else\n+# Hi\n";
    const agent = { kind: "scripted" as const, patch: { files: [{ path: "README.md", diff }] } };
    const { code, result } = await world.reported(await world.dispatch({ agent }));
    expect(code).toBe("ANT_PATCH_DOES_NOT_APPLY");
    expect(result.summary).toContain("README.md");
  });

  test("a patch outside the task's scope makes the result failed", async () => {
    const agent = {
      kind: "scripted" as const,
      patch: { files: [{ path: "hello.txt", diff: patchTo("hello") }] },
    };
    const { code } = await world.reported(await world.dispatch({ agent, scope: ["docs/**"] }));
    expect(code).toBe("ANT_PATCH_SCOPE");
  });

  test("a missing recording makes the result failed, and the summary names its key", async () => {
    const sent = await world.dispatch({ agent: { kind: "replay", seed: "s1" } });
    const { code, result } = await world.reported(sent);
    expect(code).toBe("ANT_RECORDING_NOT_FOUND");
    expect(result.summary).toMatch(/[0-9a-f]{64}/);
  });

  test("a link among the changed files makes the result failed", async () => {
    const { code } = await world.reported(await world.dispatch(scripted("ln -s /etc/passwd hello.txt")));
    expect(code).toBe("ANT_SANDBOX_OUTPUT");
  });

  test("a task past its time budget is killed, and the result names the command under way", async () => {
    const sent = await world.dispatch({
      ...scripted("echo begun; sleep 600"),
      ...task({ time_budget_s: 1 }),
    });
    const { code, result } = await world.reported(sent);
    expect(code).toBe("ANT_TASK_TIME_BUDGET");
    expect(result.summary).toContain("sleep 600");
    expect(result.suggested_next).toContain("time_budget_s");
    expect(await world.text(await world.manifest(sent), "work/1.stdout.txt")).toBe("begun\n");
    await eventually("its container is gone", () => world.containers(sent.runId).length === 0);
  });
});

describe("an agent that runs antiphon-ask", () => {
  const QUESTION = "Which word? [hello | bye]";
  const asking = (before = "") => ({
    kind: "command" as const,
    argv: [
      ...["sh", "-c"],
      `${before}echo start >> starts; word=$(antiphon-ask "Which word?" --choice hello --choice bye); echo "$word" > hello.txt`,
    ],
  });
  const answered = (runId: string, agent = asking(), over = {}) =>
    world.dispatch(
      { agent, answers: [{ question: QUESTION, answer: "hello" }], ...over },
      { runId, epoch: 2 },
    );

  async function asked(agent = asking(), budget = {}): Promise<Sent> {
    const sent = await world.dispatch({ agent, ...budget });
    const { result } = await world.reported(sent);
    expect(result).toMatchObject({ status: "needs_input", questions: [QUESTION] });
    return sent;
  }

  test("asks, and goes on with the answer in its own container", async () => {
    const sent = await asked();
    const [container] = world.containers(sent.runId);
    expect(container).toBeDefined();
    const second = await answered(sent.runId);
    const { result } = await world.reported(second);
    expect(result).toMatchObject({ status: "ok", files_changed: ["hello.txt", "starts"] });
    const manifest = await world.manifest(second);
    expect((await world.text(manifest, "diff.patch")).match(/^\+start$/gm)).toHaveLength(1);
    const { sandbox } = JSON.parse(await world.text(manifest, "provenance/environment.json")) as {
      sandbox: { containerId: string };
    };
    expect(sandbox.containerId.slice(0, 12)).toBe(container);
    await eventually("the container is gone", () => world.containers(sent.runId).length === 0);
  });

  test("does not spend its time budget while it waits", async () => {
    const sent = await asked(asking("sleep 1; "), task({ time_budget_s: 3 }));
    const waited = performance.now() + 4000;
    await eventually("the budget would be over", () => performance.now() > waited);
    const { result } = await world.reported(await answered(sent.runId));
    expect(result.status).toBe("ok");
  });

  /** Work before the question, of each kind that a change has. */
  const WORK =
    "mkdir -p d; echo new > d/new.txt; chmod +x check.sh; echo more >> README.md; rm -f gone.txt; ";
  const CHANGED = ["README.md", "check.sh", "d/new.txt", "hello.txt", "starts", "gone.txt"];
  const base = () =>
    world.base({
      "check.sh": 'test "$(cat hello.txt)" = hello\n',
      "README.md": "# Hello\n",
      "gone.txt": "x\n",
    });

  test("leaves its files with the question", async () => {
    const tree = { base: await base() };
    const sent = await asked(asking(WORK), tree);
    const patch = await world.text(await world.manifest(sent), "diff.patch");
    expect(patch).toContain("+new");
    expect(patch).toContain("+start");
    expect(patch).toContain("deleted file mode 100644");
    expect(patch).toContain("new mode 100755");
    expect((await world.reported(sent)).result.files_changed).toEqual(
      CHANGED.filter((path) => path !== "hello.txt"),
    );
    await world.reported(await answered(sent.runId, asking(WORK), tree));
  });

  test.each(["stopped", "killed"])(
    "goes on from its files at the question in another container when its Associate was %s before the answer",
    async (how) => {
      const agent = asking(`[ -e starts ] || { ${WORK}}; `);
      await world.stopAssociates();
      const first = await world.associate(`as_asked_${how}`);
      const tree = { base: await base() };
      const sent = await asked(agent, tree);
      if (how === "killed") await first.crash();
      else await world.stopAssociates();
      await world.associate("as_two");
      const second = await answered(sent.runId, agent, tree);
      const { result } = await world.reported(second);
      expect(result).toMatchObject({ status: "ok", files_changed: CHANGED });
      const patch = await world.text(await world.manifest(second), "diff.patch");
      expect(patch.match(/^\+start$/gm)).toHaveLength(2);
      expect(patch.match(/^\+more$/gm)).toHaveLength(1);
      await eventually("the containers are gone", () => world.containers(sent.runId).length === 0, 20_000);
      await world.stopAssociates();
      await world.associate("as_one");
    },
    patient(60_000),
  );

  test("goes on from its files at the question also if the attempt with the answer was lost", async () => {
    const sent = await asked();
    await world.stopAssociates();
    const { runId } = sent;
    const claim = { associate: "as_gone", incarnation: "x" };
    await world.journal.append({ type: "claim", runId, taskId: TASK, epoch: 2, cause: null, body: claim });
    const lapsed = { kind: "lapsed" as const, observer: "as_two", holder: "as_gone" };
    await world.journal.append({ type: "result", runId, taskId: TASK, epoch: 2, cause: null, body: lapsed });
    await world.associate("as_one");
    const answers = [{ question: QUESTION, answer: "hello" }];
    const third = await world.dispatch({ agent: asking(), answers }, { runId, epoch: 3 });
    await world.reported(third);
    const patch = await world.text(await world.manifest(third), "diff.patch");
    expect(patch.match(/^\+start$/gm)).toHaveLength(2);
  });

  test("that ends with its question goes on from its files, and a rejected attempt after it does not", async () => {
    const script = [
      'case "$ANTIPHON_TASK" in *\'"answer":"hello"\'*) cat part.txt > hello.txt; echo again >> part.txt; exit;; esac',
      "echo hello > part.txt; mkdir -p .antiphon",
      `echo '{"question":"Which word?"}' > .antiphon/question.json; exit 78`,
    ].join("; ");
    const agent = {
      ...{ kind: "pack" as const, name: "own", install: [], tools: [], path: [], prompt: "stdin" as const },
      ...{ env: {}, junk: [], argv: ["sh", "-c", script] },
    };
    const sent = await world.dispatch({ agent });
    expect((await world.reported(sent)).result.questions).toEqual(["Which word?"]);
    const answers = [{ question: "Which word?", answer: "hello" }];
    const { runId } = sent;
    const second = await world.reported(await world.dispatch({ agent, answers }, { runId, epoch: 2 }));
    expect(second.result).toMatchObject({ status: "ok", files_changed: ["hello.txt", "part.txt"] });
    const third = await world.reported(await world.dispatch({ agent, answers }, { runId, epoch: 3 }));
    expect(third.result.status).toBe("failed"); // there is no part.txt among the original files
  });

  test("is ended when its run is canceled while it waits", async () => {
    const { runId } = await asked();
    const body = { by: "test", reason: "enough" };
    await world.journal.append({ type: "cancel", runId, taskId: null, epoch: 0, cause: null, body });
    await eventually("the container is gone", () => world.containers(runId).length === 0, 10_000);
  });

  test("cannot make the supervisor read or write another file, nor ask from a check", async () => {
    const script = [
      "ln -s /etc/passwd /tmp/.antiphon-question; sleep 0.6",
      "rm -f /tmp/.antiphon-question; mkdir /tmp/.antiphon-question; sleep 0.6; rmdir /tmp/.antiphon-question",
      "echo hello > hello.txt",
    ].join("; ");
    const agent = { kind: "command" as const, argv: ["sh", "-c", script] };
    const check = "echo forged > /tmp/.antiphon-question; sleep 0.6; sh check.sh";
    const sent = await world.dispatch({
      agent,
      ...task({ verify_profile: { mode: "smoke", commands: [check] } }),
    });
    const { result } = await world.reported(sent);
    expect(result).toMatchObject({ status: "ok", questions: [] });
  });
});

describe("a run that is over", () => {
  async function cancel({ runId }: Pick<Sent, "runId">): Promise<void> {
    const body = { by: "test", reason: "enough" };
    await world.journal.append({ type: "cancel", runId, taskId: null, epoch: 0, cause: null, body });
    tell(world.bus, subjects.control(runId), { kind: "cancel" }); // as the gateway does
  }
  const heard = (runId: string, word: string): boolean =>
    world.progress.some((line) => line.runId === runId && line.text.includes(word));

  test("a cancel stops the container within 5 s; the change and the output so far are kept", async () => {
    const sent = await world.dispatch(
      scripted("echo hello > hello.txt; rm README.md; echo begun", "trap '' TERM; echo more; sleep 600"),
    );
    await eventually("the first command has ended", () => heard(sent.runId, "(exit 0)"));
    await cancel(sent);
    await eventually("the container is gone", () => world.containers(sent.runId).length === 0, 5000);
    const { code, result, patch } = await world.reported(sent);
    expect(code).toBe("ANT_SANDBOX_CANCELED");
    expect(result).toMatchObject({ status: "failed", files_changed: ["hello.txt", "README.md"] });
    expect(patch).not.toBeNull();
    const manifest = await world.manifest(sent);
    expect(await world.text(manifest, "diff.patch")).toContain("+hello");
    expect(await world.text(manifest, "work/1.stdout.txt")).toBe("begun\n");
    await eventually("the dispatch is acknowledged", async () => (await world.unfinished()) === 0);
  });

  test("a cancel while a check runs keeps the finished change", async () => {
    const sent = await world.dispatch({
      ...scripted("echo hello > hello.txt"),
      ...task({ verify_profile: { mode: "smoke", commands: ["sleep 600"] } }),
    });
    await eventually("the work has ended", () => heard(sent.runId, "(exit 0)"));
    await cancel(sent);
    expect(await world.reported(sent)).toMatchObject({
      code: "ANT_SANDBOX_CANCELED",
      result: { status: "failed", files_changed: ["hello.txt"] },
    });
  });

  test("a dispatch of a canceled run is not claimed", async () => {
    const runId = `run_canceled${process.pid}`;
    const body = { by: "test", reason: "" };
    await world.journal.append({ type: "cancel", runId, taskId: null, epoch: 0, cause: null, body });
    const sent = await world.dispatch(scripted("sleep 600"), { runId });
    await eventually("the dispatch is acknowledged", async () => (await world.unfinished()) === 0);
    expect(await world.journal.find("claim", sent.runId, TASK, 1)).toBeNull();
  });
});
