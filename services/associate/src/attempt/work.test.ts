import { AntiphonError, limits } from "@antiphon/contracts";
import type { DispatchBody, EvidenceManifest, SandboxOutcome } from "@antiphon/contracts";
import { describe, expect, test } from "vitest";
import { dispatchOf } from "../testing/dispatch.fixture.ts";
import { allGood, blob, driven, go, meta, type Answer, type Driven } from "./driven-attempt.fixture.ts";
import type { AttemptPorts } from "../ports.ts";
import { carryOut } from "./work.ts";
import type { HeldJobs } from "./held-jobs.ts";
import type { RunningJob } from "./running-job.ts";
import type { StopReason } from "./attempt-end.ts";

/** Every sandbox is busy for the given number of tries, each half a minute long. */
function busyFor(times: number): Driven {
  const world = driven(allGood);
  let asked = 0;
  const sandbox: AttemptPorts["sandbox"] = {
    async run(request, options) {
      if ((asked += 1) > times) return await world.ports.sandbox.run(request, options);
      await world.ports.clock.sleep(30_000);
      throw new AntiphonError("ANT_SANDBOX_BUSY");
    },
  };
  return { ...world, ports: { ...world.ports, sandbox } };
}

const lost: Answer = () => Promise.reject(new AntiphonError("ANT_SANDBOX_RUNNER_LOST"));

describe("carryOut", () => {
  test("associate/A6: successful work is reported with its patch and stored evidence", async () => {
    const world = driven(allGood);
    const end = await go(world);
    expect(end).toMatchObject({
      kind: "reported",
      body: { associate: "as_1", code: null, patch: blob, result: { status: "ok" } },
    });
    expect(world.stored).toContain("diff.patch");
    expect(world.requests[0]).toMatchObject({
      purpose: "attempt",
      collect: true,
      collectAfter: "work-1",
      budgetMs: 60_000,
    });
  });

  test("associate/A5: without a runner the job is tried again under a new id, and the budget shrinks meanwhile", async () => {
    const world = driven(lost, lost, allGood);
    expect(await go(world)).toMatchObject({ kind: "reported", body: { result: { status: "ok" } } });
    expect(world.requests.map((request) => request.jobId)).toEqual(["job_1", "job_2", "job_3"]);
    expect(world.requests.map((request) => request.budgetMs)).toEqual([60_000, 59_750, 59_250]);
    expect(world.said.some((line) => line.startsWith("ANT_SANDBOX_RUNNER_LOST"))).toBe(true);
  });

  test("associate/A1: an attempt whose runner fell silent with the job is not tried again", async () => {
    const silent: Answer = () =>
      Promise.reject(new AntiphonError("ANT_SANDBOX_RUNNER_LOST", "no word", { data: { mayLive: true } }));
    const world = driven(silent, allGood);
    expect(await go(world)).toMatchObject({ kind: "abandoned", code: "ANT_SANDBOX_RUNNER_LOST" });
    expect(world.requests).toHaveLength(1);
  });

  test.each(["canceled", "error"] as const)(
    "a job that ended while it asked (%s) is not started again: its attempt has told the question",
    async (outcome) => {
      const agent = { kind: "command" as const, argv: ["ask"] };
      const world = driven();
      let over: () => void = () => undefined;
      const told: string[] = [];
      const sandbox: AttemptPorts["sandbox"] = {
        run: (request, events) =>
          new Promise((resolve) => {
            world.requests.push(request);
            events.onEvent({ kind: "question", number: 1, text: "antiphon-ended:text\nWhich?" });
            over = () =>
              resolve({ outcome, code: null, message: "time over", steps: [], changes: null, meta });
          }),
      };
      const held = {
        take: () => null,
        keep: (_: unknown, job: RunningJob) => void told.push(job.question?.text ?? ""),
      };
      const ports = { ...world.ports, sandbox, held: held as unknown as HeldJobs };
      const end = await go({ ...world, ports }, { agent });
      expect(end).toMatchObject({ body: { result: { status: "needs_input", questions: ["Which?"] } } });
      over();
      await new Promise((resolve) => setImmediate(resolve));
      expect([told, world.requests.length]).toEqual([["Which?"], 1]);
    },
  );

  test("associate/A1: an attempt whose container could not be removed is not tried again", async () => {
    const left: Answer = async (request, signal) => ({
      ...(await allGood(request, signal)),
      outcome: "error",
      code: "ANT_SANDBOX_LEFT",
      message: "the engine is down",
    });
    const world = driven(left, allGood);
    expect(await go(world)).toMatchObject({ kind: "abandoned", code: "ANT_SANDBOX_LEFT" });
    expect(world.requests).toHaveLength(1);
  });

  test("associate/A5: an infrastructure fault that lasts longer than the patience abandons the attempt", async () => {
    const world = driven(lost);
    expect(await go(world)).toMatchObject({ kind: "abandoned", code: "ANT_SANDBOX_RUNNER_LOST" });
    expect(world.stored).toEqual([]);
  });

  test("an engine that is down, which the runner reports as outcome `error`, is tried again too", async () => {
    const down: Answer = async (request, signal) => ({
      ...(await allGood(request, signal)),
      outcome: "error",
      code: "ANT_DOCKER_UNREACHABLE",
      message: "no engine",
      changes: null,
    });
    expect(await go(driven(down, allGood))).toMatchObject({
      kind: "reported",
      body: { result: { status: "ok" } },
    });
    expect(await go(driven(down))).toMatchObject({ kind: "abandoned", code: "ANT_DOCKER_UNREACHABLE" });
  });

  test("an attempt is an outage only when no sandbox was available and none may have been started for it", async () => {
    const ended = (code: string, containerId = ""): Answer => {
      return async (request, signal) => {
        const outcome = await allGood(request, signal);
        const none = { message: "no", changes: null, meta: { ...meta, containerId } };
        return { ...outcome, ...none, outcome: "error", code };
      };
    };
    const lostWithJob = new AntiphonError("ANT_SANDBOX_RUNNER_LOST", "", { data: { mayLive: true } });
    const outageOf = async (...answers: Answer[]) => {
      const end = await go(driven(...answers));
      expect(end.kind).toBe("abandoned");
      return "outage" in end;
    };
    expect(await outageOf(lost)).toBe(true);
    expect(await outageOf(() => Promise.reject(lostWithJob))).toBe(false);
    expect(await outageOf(ended("ANT_DOCKER_UNREACHABLE"))).toBe(true);
    expect(await outageOf(ended("ANT_DOCKER_UNREACHABLE", "c1"))).toBe(false);
    expect(await outageOf(ended("ANT_EGRESS_UNAVAILABLE", "c1"))).toBe(true);
    expect(await outageOf(ended("ANT_SANDBOX_FAILED"))).toBe(false);
    expect(await outageOf(ended("ANT_DOCKER_UNREACHABLE", "c1"), lost)).toBe(false);
  });

  test("a fault that is not worth a retry abandons the attempt at once", async () => {
    const damaged: Answer = () => Promise.reject(new AntiphonError("ANT_BLOB_CORRUPT"));
    const world = driven(damaged);
    expect(await go(world)).toMatchObject({ kind: "abandoned", code: "ANT_BLOB_CORRUPT" });
    expect(world.requests).toHaveLength(1);
  });

  test("a base tree that is gone is stored again, and the job is asked for again", async () => {
    const gone: Answer = () => Promise.reject(new AntiphonError("ANT_BLOB_MISSING"));
    const world = driven(gone, gone, allGood);
    expect(await go(world)).toMatchObject({ kind: "reported", body: { result: { status: "ok" } } });
    expect(world.exported).toEqual([1, 1]);
    const never = driven(gone);
    expect(await go(never)).toMatchObject({ kind: "abandoned", code: "ANT_BLOB_MISSING" });
    expect(never.requests).toHaveLength(4);
  });

  test("a tree for the diff that is gone is stored again", async () => {
    const world = driven(allGood);
    const { trees } = world.ports;
    let isGone = true;
    const diff: typeof trees.diff = (base, change) => {
      if (!isGone) return trees.diff(base, change);
      isGone = false;
      return Promise.reject(new AntiphonError("ANT_BLOB_MISSING"));
    };
    const ports = { ...world.ports, trees: { ...trees, diff } };
    expect(await go({ ...world, ports })).toMatchObject({ kind: "reported" });
    expect(world.exported).toEqual([1]);
  });

  test("a job that its runner canceled while stopping is tried again on another runner", async () => {
    const stopping: Answer = async (request, signal) => ({
      ...(await allGood(request, signal)),
      outcome: "canceled",
      changes: null,
    });
    expect(await go(driven(stopping, allGood))).toMatchObject({
      kind: "reported",
      body: { result: { status: "ok" } },
    });
  });

  test("waiting for a free sandbox does not shorten the task's budget", async () => {
    const world = busyFor(1);
    expect(await go(world)).toMatchObject({ kind: "reported" });
    expect(world.requests[0]?.budgetMs).toBe(60_000);
  });

  test("waiting for a free sandbox ends as an outage before the claim expires", async () => {
    const world = busyFor(20);
    const end = await go(world);
    expect(end).toMatchObject({ kind: "abandoned", code: "ANT_SANDBOX_BUSY", outage: true });
    expect(world.ports.clock.now()).toBeLessThan(limits.claimGraceS * 1000);
  });

  test("a refusal by the runner is reported at once, without a retry", async () => {
    const refused: Answer = async (request, signal) => ({
      ...(await allGood(request, signal)),
      outcome: "refused",
      code: "ANT_SANDBOX_REFUSED",
      message: "image not allowed",
      changes: null,
    });
    const world = driven(refused);
    expect(await go(world)).toMatchObject({
      kind: "reported",
      body: { code: "ANT_SANDBOX_REFUSED", result: { status: "failed" } },
    });
    expect(world.requests).toHaveLength(1);
  });

  test.each<StopReason>(["canceled", "fenced", "draining"])(
    "an attempt that is stopped (%s) stores and reports nothing",
    async (why) => {
      const stop = new AbortController();
      const world = driven((_request, signal) => {
        stop.abort(why);
        return Promise.reject(new AntiphonError("ANT_SANDBOX_CANCELED", String(signal.aborted)));
      });
      expect(await go(world, {}, stop)).toEqual({ kind: "stopped", why });
      expect(world.stored).toEqual([]);
    },
  );

  describe("that goes on from the change of an earlier attempt", () => {
    const second = (world: Driven) =>
      carryOut(
        {
          ...{ runId: "run_1", epoch: 3, associate: "as_1" },
          dispatch: dispatchOf({ continue_change: true, agent: { kind: "command", argv: ["fix"] } }),
        },
        world.ports,
        { stop: new AbortController().signal, giveUp: new AbortController().signal },
      );
    const before = { path: "before.txt", mode: "100644" as const, content: Buffer.from("x") };
    const having = (apply: AttemptPorts["trees"]["apply"]): Driven => {
      const world = driven(allGood);
      const evidence: AttemptPorts["evidence"] = {
        ...world.ports.evidence,
        diffOf: (_run, _task, epoch) => Promise.resolve(epoch === 1 ? "the diff" : null), // attempt 2 was lost
      };
      const trees = { ...world.ports.trees, apply };
      return { ...world, ports: { ...world.ports, evidence, trees } };
    };

    test("has it in its sandbox and in its own change, and is told so", async () => {
      const world = having(() => Promise.resolve({ files: [before], deletions: ["gone"] }));
      expect(await second(world)).toMatchObject({
        body: { result: { files_changed: ["before.txt", "hello.txt"] } },
      });
      const { workspace, steps } = world.requests[0]!;
      expect([workspace.files.map(({ path }) => path), workspace.deletions]).toEqual([
        ["before.txt"],
        ["gone"],
      ]);
      const stdin = steps.find(({ id }) => id === "work-1")?.stdin ?? "";
      expect(JSON.parse(stdin)).toMatchObject({ previous_diff: "the diff", continues: true });
    });

    test("starts from the original files if it does not apply, and says so", async () => {
      const world = having(() => Promise.reject(new AntiphonError("ANT_PATCH_DOES_NOT_APPLY", "a.txt:1")));
      expect(await second(world)).toMatchObject({ body: { result: { files_changed: ["hello.txt"] } } });
      expect(world.requests[0]?.workspace.files).toEqual([]);
      expect(world.said.join("\n")).toContain("starts from the original files");
    });
  });

  describe("of a run that is canceled", () => {
    const canceledAfter = (outcome: SandboxOutcome["outcome"], keep: boolean) => {
      const stop = new AbortController();
      const world = driven(async (request, signal) => {
        stop.abort("canceled");
        const good = await allGood(request, signal);
        return { ...good, outcome, message: "stopped", ...(keep ? {} : { steps: [], changes: null }) };
      });
      return { stop, world };
    };

    test.each(["canceled", "completed"] as const)(
      "stores what its agent left and reports a failure, if its job ended as %s",
      async (outcome) => {
        const { stop, world } = canceledAfter(outcome, true);
        expect(await go(world, {}, stop, new AbortController())).toMatchObject({
          kind: "reported",
          body: {
            code: "ANT_SANDBOX_CANCELED",
            patch: blob,
            result: { status: "failed", summary: expect.stringContaining("kept: hello.txt") as string },
          },
        });
        expect(world.stored).toContain("diff.patch");
      },
    );

    test("reports nothing if no command was started, or nobody waits any more", async () => {
      const none = canceledAfter("canceled", false);
      const ended = { kind: "stopped", why: "canceled" };
      expect(await go(none.world, {}, none.stop, new AbortController())).toEqual(ended);
      const late = canceledAfter("canceled", true);
      expect(await go(late.world, {}, late.stop, late.stop)).toEqual(ended);
      expect([none.world.stored, late.world.stored]).toEqual([[], []]);
    });
  });

  test("associate/A1: a stopped attempt says when its container may still be running", async () => {
    const stop = new AbortController();
    const world = driven(() => {
      stop.abort("fenced");
      return Promise.reject(
        new AntiphonError("ANT_SANDBOX_RUNNER_LOST", "no word", { data: { mayLive: true } }),
      );
    });
    expect(await go(world, {}, stop)).toEqual({
      kind: "stopped",
      why: "fenced",
      left: { code: "ANT_SANDBOX_RUNNER_LOST", message: "no word" },
    });
  });

  test("associate/A1: an attempt that is stopped while its evidence is stored reports nothing", async () => {
    const stop = new AbortController();
    const world = driven(allGood);
    const publish = world.ports.evidence.publish.bind(world.ports.evidence);
    const ports: AttemptPorts = {
      ...world.ports,
      evidence: {
        ...world.ports.evidence,
        publish: (manifest) => {
          stop.abort("fenced");
          return publish(manifest);
        },
      },
    };
    expect(await go({ ...world, ports }, {}, stop)).toEqual({ kind: "stopped", why: "fenced" });
  });

  test("evidence that cannot be stored is an infrastructure fault", async () => {
    const world = driven(allGood);
    const evidence = {
      ...world.ports.evidence,
      store: () => Promise.reject(new AntiphonError("ANT_NATS_NO_SPACE")),
    };
    expect(await go({ ...world, ports: { ...world.ports, evidence } })).toMatchObject({
      kind: "abandoned",
      code: "ANT_NATS_NO_SPACE",
    });
  });

  test("a change that can be no diff of its base is reported; a fault of the machine is not", async () => {
    const told = async (error: AntiphonError) => {
      const world = driven(allGood);
      const trees = { ...world.ports.trees, diff: () => Promise.reject(error) };
      return go({ ...world, ports: { ...world.ports, trees } });
    };
    const inModule = new AntiphonError("ANT_PATCH_GITLINK", "vendor/a.c is a file of the submodule vendor");
    expect(await told(inModule)).toMatchObject({
      kind: "reported",
      body: {
        code: "ANT_PATCH_GITLINK",
        patch: null,
        result: { status: "failed", summary: inModule.detail },
      },
    });
    expect(await told(new AntiphonError("ANT_GIT_INTERRUPTED", "no memory"))).toMatchObject({
      kind: "abandoned",
      code: "ANT_GIT_INTERRUPTED",
    });
  });

  test("an agent or a task of an unknown kind is reported with its code", async () => {
    const agent = { kind: "telepathy" } as unknown as DispatchBody["agent"];
    expect(await go(driven(allGood), { agent })).toMatchObject({
      kind: "reported",
      body: { code: "ANT_AGENT_UNKNOWN" },
    });
    const task = { ...dispatchOf().task, kind: "git" as const };
    expect(await go(driven(allGood), { task })).toMatchObject({
      body: { code: "ANT_TASK_KIND_UNSUPPORTED" },
    });
  });

  test("a question needs no sandbox", async () => {
    const world = driven(allGood);
    const end = await go(world, { agent: { kind: "scripted", ask: "Which?" } });
    expect(end).toMatchObject({ body: { result: { status: "needs_input", questions: ["Which?"] } } });
    expect(world.requests).toEqual([]);
  });

  test.each(["timeout", "oom"] as const)("an attempt that ends by %s keeps its change", async (how) => {
    const ended: Answer = async (request, signal) => ({ ...(await allGood(request, signal)), outcome: how });
    const world = driven(ended);
    expect(await go(world)).toMatchObject({
      body: { patch: blob, result: { status: "failed", files_changed: ["hello.txt"] } },
    });
    expect(world.stored).toContain("diff.patch");
  });

  test("the next attempt is told the failing sections of the whole output, not only its end", async () => {
    const output = [...Array(2000).keys()].map((n) => (n === 900 ? "AssertionError: 3 !== 2" : `line ${n}`));
    const world = driven(allGood);
    const file = { path: "checks/1.stdout.txt", blob };
    const check = { command: "make test", exit_code: 1, duration_ms: 1, timed_out: false };
    const checks = [{ ...check, stdout_path: file.path, stderr_path: null }];
    const bundle = { files: [file], checks } as unknown as EvidenceManifest;
    const evidence = {
      ...world.ports.evidence,
      bundleOf: () => Promise.resolve(bundle),
      text: () => Promise.resolve(output.join("\n")),
    };
    const rejected = { epoch: 1, code: "ANT_VERIFY_SELF_FAILED", message: "it failed", checks: [] } as const;
    const agent = { kind: "command", argv: ["fix"] } as const;
    await go(
      { ...world, ports: { ...world.ports, evidence } },
      {
        agent: { ...agent, argv: [...agent.argv] },
        feedback: [{ ...rejected, checks: [] }],
      },
    );
    const brief = world.requests[0]?.steps.find(({ id }) => id === "work-1")?.env["ANTIPHON_TASK"] ?? "";
    expect(brief).toContain("line 899\\nAssertionError: 3 !== 2\\nline 901");
    expect(brief).toContain("line 1999");
    await go(world, { agent: { kind: "command", argv: ["fix"] }, feedback: [{ ...rejected, checks: [] }] });
    expect(world.requests[1]?.steps.find(({ id }) => id === "work-1")?.env["ANTIPHON_TASK"]).toContain(
      "it failed",
    );
  });

  test("the tools of an image are probed once", async () => {
    const world = driven(allGood);
    await go(world);
    await go(world);
    expect(world.requests.map((request) => request.steps.some((step) => step.id === "tools"))).toEqual([
      true,
      false,
    ]);
    expect(world.ports.tools.get("")).toEqual(["git 2"]);
  });

  test("a large patch is sent as a tar, a small one in the request", async () => {
    const patch = { files: [{ path: "big", diff: "--- /dev/null\n+++ b/big\n@@ -0,0 +1 @@\n+x\n" }] };
    for (const [size, overlay] of [
      [10, null],
      [300_000, blob],
    ] as const) {
      const world = driven(allGood);
      const change = {
        files: [{ path: "big", mode: "100644" as const, content: Buffer.alloc(size) }],
        deletions: ["old"],
      };
      const trees = {
        ...world.ports.trees,
        check: () => [{ path: "big", from: null }],
        apply: () => Promise.resolve(change),
      };
      await go({ ...world, ports: { ...world.ports, trees } }, { agent: { kind: "scripted", patch } });
      expect(world.requests[0]?.workspace).toMatchObject({ overlay, deletions: ["old"] });
      expect(world.requests[0]?.workspace.files).toHaveLength(overlay === null ? 1 : 0);
      expect(world.requests[0]?.collect).toBe(false);
    }
  });
});
