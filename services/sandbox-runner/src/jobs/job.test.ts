import { describe, expect, it, vi } from "vitest";
import { AntiphonError, limits, type SandboxEvent, type SandboxRequest } from "@antiphon/contracts";
import { Evidence } from "./evidence.ts";
import { Layering } from "../layers/layering.ts";
import { TreeArchive } from "../workspace/tree-archive.ts";
import { defaultLimits } from "../job-limits.ts";
import { OutputBound } from "../conversation/output-bound.ts";
import { Refusal } from "../workspace/refusal.ts";
import { runJob } from "./job.ts";
import type { JobPorts } from "./job-ports.ts";
import { SandboxDied, type Command, type CommandExit, type Sandbox } from "../ports.ts";

const nothing = new OutputBound(8).finish();
const EXIT: CommandExit = {
  exitCode: 0,
  signal: 0,
  timedOut: false,
  oomKills: 0,
  pidsRefused: 0,
  freeBytes: 1e6,
  freeInodes: 100,
  durationMs: 1,
  stdout: nothing,
  stderr: nothing,
};

/** A sandbox under the test's control: `onRun` decides how each command ends. */
function twin(options: {
  sealed?: boolean;
  onRun?: (command: Command) => Promise<CommandExit>;
  onCollect?: () => never;
}) {
  const seen = { commands: [] as Command[], released: 0, leased: 0 };
  const sandbox: Sandbox = {
    id: "container",
    imageId: "sha256:a",
    home: "/tmp",
    sealed: options.sealed ?? true,
    bootMs: 1,
    gone: new Promise(() => undefined),
    run: (command) => {
      seen.commands.push(command);
      return options.onRun?.(command) ?? Promise.resolve(EXIT);
    },
    putTar: () => Promise.resolve(),
    remove: () => Promise.resolve(),
    collect: async () => options.onCollect?.() ?? { files: [], deletions: ["gone"] },
    assign: () => Promise.resolve(),
    destroy: () => Promise.resolve(),
  };
  const release = (): Promise<void> => {
    seen.released += 1;
    return Promise.resolve();
  };
  const ports: JobPorts = {
    node: "node",
    timed: (_name, work) => work(),
    provider: "docker",
    defaults: defaultLimits("runc"),
    image: (asked) =>
      asked === "bad"
        ? Promise.reject(new AntiphonError("ANT_SANDBOX_REFUSED", "not allowed"))
        : Promise.resolve({ id: "sha256:a", env: ["PATH=/bin"], volumes: [] }),
    lease: () => {
      seen.leased += 1;
      const found = { sandbox, warm: true, holds: null, repository: null };
      return Promise.resolve({ ...found, release, goesOnFor: () => undefined });
    },
    sources: {
      layering: new Layering({ store: undefined, onStreamed: () => undefined }),
      trees: new TreeArchive("/nowhere", { stream: () => [] as never }, 0),
      blob: () => Promise.reject(new Error("none")),
    },
    environments: { ensure: () => Promise.reject(new Error("no job here needs an environment")) },
    onAnswer: () => undefined,
    onInbox: () => undefined,
    progress: () => undefined,
    beside: () => Promise.reject(new Error("no job here has a service")),
    newWord: () => "word",
    egress: () => Promise.reject(new Error("no network")),
    evidence: new Evidence({ put: () => Promise.reject(new Error("nothing to put")) }),
    onOutput: () => undefined,
    later: () => undefined,
  };
  return { ports, seen };
}

const step = (id: string) => ({
  id,
  argv: ["true"],
  env: { A: "1" },
  timeoutMs: 1000,
  continueOnFailure: false,
});
const request = (changes: Partial<SandboxRequest> = {}): SandboxRequest => ({
  jobId: "job",
  run: "run",
  task: "T-001",
  epoch: 1,
  purpose: "attempt",
  image: null,
  budgetMs: 5000,
  workspace: { tree: null, files: [], overlay: null, deletions: [] },
  steps: [step("a"), step("b")],
  collect: false,
  ...changes,
});

const never = new AbortController().signal;

async function run(job: SandboxRequest, ports: JobPorts, signal = never, halt = never) {
  const events: SandboxEvent[] = [];
  const outcome = await runJob(job, ports, (event) => events.push(event), { signal, halt });
  return { outcome, events: events.map(({ kind }) => kind) };
}

describe("a job", () => {
  it("runs its steps in order, in the image's PATH and its own variables, and releases the sandbox", async () => {
    const { ports, seen } = twin({});
    const { outcome, events } = await run(request(), ports);
    expect(events).toEqual(["accepted", "started", "step", "step"]);
    expect(outcome.steps.map(({ id, exitCode }) => [id, exitCode])).toEqual([
      ["a", 0],
      ["b", 0],
    ]);
    expect(seen.commands[0]).toMatchObject({
      cwd: "/workspace",
      env: { PATH: "/bin", HOME: "/tmp", A: "1" },
    });
    expect(seen.released).toBe(1);
  });

  it("sandbox-runner/S2: for a verdict is refused where the supervisor is not sealed", async () => {
    for (const purpose of ["verify", "base"] as const) {
      const { ports, seen } = twin({ sealed: false });
      const { outcome } = await run(request({ purpose }), ports);
      expect([purpose, outcome.outcome, outcome.code]).toEqual([purpose, "refused", "ANT_SANDBOX_REFUSED"]);
      expect([seen.commands.length, seen.released]).toEqual([0, 1]);
    }
  });

  it("for an attempt runs where the supervisor is not sealed", async () => {
    expect((await run(request(), twin({ sealed: false }).ports)).outcome.outcome).toBe("completed");
  });

  it("sandbox-runner/S4: releases the sandbox when it is canceled, and ends as canceled even if a step failed then", async () => {
    const stop = new AbortController();
    const { ports, seen } = twin({
      onRun: () => {
        stop.abort("enough");
        return Promise.reject(new SandboxDied({ kind: "gone", message: "killed" }));
      },
    });
    const { outcome } = await run(request(), ports, stop.signal);
    expect(outcome).toMatchObject({ outcome: "canceled", message: "enough" });
    expect(seen.released).toBeGreaterThan(0);
  });

  it("never takes a sandbox when it is canceled before it began", async () => {
    const { ports, seen } = twin({});
    const { outcome } = await run(request(), ports, AbortSignal.abort("early"));
    expect([outcome.outcome, seen.leased]).toEqual(["canceled", 0]);
  });

  it("a timeout before the first step is an error, not a timeout of the task", async () => {
    const { ports } = twin({});
    const hangs = { ...ports, egress: () => Promise.reject(new SandboxDied({ kind: "timeout" }, null)) };
    const grant = { profile: { mode: "git+pkg" }, model_budget: null } as const;
    const { outcome } = await run(request({ egress: grant }), hangs);
    expect([outcome.outcome, outcome.code]).toEqual(["error", "ANT_SANDBOX_FAILED"]);
  });

  it("killed in a step keeps that step, without an exit code", async () => {
    const partial = { stdout: nothing, stderr: nothing, durationMs: 7 };
    const { ports } = twin({ onRun: () => Promise.reject(new SandboxDied({ kind: "timeout" }, partial)) });
    const { outcome, events } = await run(request(), ports);
    expect(outcome.outcome).toBe("timeout");
    expect(outcome.steps).toMatchObject([{ id: "a", exitCode: null, timedOut: true, durationMs: 7 }]);
    expect(events.at(-1)).toBe("step");
  });

  it("runs at most two steps ahead of a slow object store, and reports its failure only at the end", async () => {
    const kept = new OutputBound(8);
    kept.push(Buffer.from("out"));
    const { ports, seen } = twin({ onRun: () => Promise.resolve({ ...EXIT, stdout: kept.finish() }) });
    const stalled: (() => void)[] = [];
    const put = (): Promise<never> => new Promise((_, fail) => stalled.push(() => fail(new Error("full"))));
    const steps = ["a", "b", "c", "d"].map(step);
    const running = run(request({ steps }), { ...ports, evidence: new Evidence({ put }) });
    await vi.waitFor(() => expect(stalled).toHaveLength(2));
    stalled[1]?.(); // nothing awaits it yet, and it must not end the process
    for (let i = 0; i < 20; i += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(seen.commands).toHaveLength(2);
    stalled[0]?.();
    for (let i = 2; i < 4; i += 1) await vi.waitFor(() => stalled[i]!());
    expect((await running).outcome).toMatchObject({ outcome: "error", message: "full", steps: [] });
    expect(seen.commands).toHaveLength(4);
  });

  it("ends with the limit that a step met, and runs no further step", async () => {
    const { ports, seen } = twin({ onRun: () => Promise.resolve({ ...EXIT, exitCode: 137, oomKills: 1 }) });
    const { outcome } = await run(request(), ports);
    expect([outcome.outcome, outcome.steps.length, seen.commands.length]).toEqual(["oom", 1, 1]);
  });

  it("names the rule that its files broke, and brings none of them out", async () => {
    const { ports } = twin({
      onCollect: () => {
        throw new Refusal("type-symlink", "l");
      },
    });
    const { outcome } = await run(request({ collect: true }), ports);
    expect(outcome).toMatchObject({ outcome: "error", code: "ANT_SANDBOX_OUTPUT", changes: null });
    expect(outcome.message).toContain("type-symlink");
  });

  const late = { ...EXIT, exitCode: 137, signal: 9, timedOut: true };

  it("collects what a command changed until its time limit killed it, and runs no further step", async () => {
    const { ports, seen } = twin({ onRun: () => Promise.resolve(late) });
    const { outcome } = await run(request({ collect: true, collectAfter: "a" }), ports);
    expect(outcome).toMatchObject({
      outcome: "timeout",
      code: "ANT_SANDBOX_TIMEOUT",
      changes: { overlay: null, deletions: ["gone"] },
      steps: [{ id: "a", exitCode: null, timedOut: true }],
    });
    expect(seen.commands.map(({ timeoutEnds }) => timeoutEnds)).toEqual(["command"]);
    expect(seen.released).toBe(1);
  });

  it("the time limit ends the sandbox when nothing is to be collected any more", async () => {
    const { ports, seen } = twin({});
    await run(request({ collect: true, collectAfter: "a" }), ports);
    expect(seen.commands.map(({ timeoutEnds }) => timeoutEnds)).toEqual(["command", undefined]);
  });

  it("stays a timeout when the changes cannot be read, and says why", async () => {
    const onCollect = () => {
      throw new Refusal("type-symlink", "l");
    };
    const { ports } = twin({ onRun: () => Promise.resolve(late), onCollect });
    const { outcome } = await run(request({ collect: true }), ports);
    expect(outcome).toMatchObject({ outcome: "timeout", changes: null });
    expect(outcome.message).toContain("its changes could not be read: ");
  });

  it("that is halted in a command ends as canceled, with what the command left", async () => {
    const halt = new AbortController();
    const { ports, seen } = twin({
      onRun: ({ signal }) => {
        halt.abort("canceled by the requester");
        return Promise.resolve({ ...EXIT, exitCode: 137, signal: signal?.aborted === true ? 9 : 0 });
      },
    });
    const { outcome } = await run(request({ collect: true }), ports, never, halt.signal);
    expect(outcome).toMatchObject({
      outcome: "canceled",
      code: "ANT_SANDBOX_CANCELED",
      message: "canceled by the requester",
      changes: { overlay: null, deletions: ["gone"] },
      steps: [{ id: "a", exitCode: null, timedOut: false }],
    });
    expect([seen.commands.length, seen.released]).toEqual([1, 1]);
  });

  it("that is halted before its first command reads nothing", async () => {
    const onCollect = () => {
      throw new Error("an unfilled workspace was read");
    };
    const { ports } = twin({ onCollect });
    const halt = new AbortController();
    const leased: JobPorts = {
      ...ports,
      lease: (...order) => {
        halt.abort("canceled");
        return ports.lease(...order);
      },
    };
    const { outcome } = await run(request({ collect: true }), leased, never, halt.signal);
    expect(outcome).toMatchObject({ outcome: "canceled", changes: null, steps: [] });
  });

  it("also collects after a failure", async () => {
    const { ports } = twin({ onRun: () => Promise.resolve({ ...EXIT, exitCode: 1 }) });
    const { outcome } = await run(request({ collect: true }), ports);
    expect(outcome).toMatchObject({ outcome: "completed", changes: { overlay: null, deletions: ["gone"] } });
    expect(outcome.steps).toHaveLength(1);
  });

  const invalid: readonly (readonly [string, Partial<SandboxRequest>, string])[] = [
    ["an image that is not allowed", { image: "bad" }, "ANT_SANDBOX_REFUSED"],
    ["a budget without bound", { budgetMs: limits.taskTimeBudgetMaxS * 1000 + 1 }, "ANT_SANDBOX_REFUSED"],
    ["looser limits", { limits: { pids: 1e6 } }, "ANT_SANDBOX_REFUSED"],
    ["more memory than a run may ask for", { limits: { memoryBytes: 2 ** 40 } }, "ANT_SANDBOX_REFUSED"],
    ["a NUL in an argument", { steps: [{ ...step("a"), argv: ["a\0b"] }] }, "ANT_SANDBOX_REFUSED"],
    ["an invalid variable name", { steps: [{ ...step("a"), env: { "A B": "" } }] }, "ANT_SANDBOX_REFUSED"],
    ["a directory outside", { steps: [{ ...step("a"), cwd: "/etc" }] }, "ANT_SANDBOX_PATH"],
  ];
  it.each(invalid)("is refused before a sandbox is taken: %s", async (_name, changes, code) => {
    const { ports, seen } = twin({});
    const { outcome } = await run(request(changes), ports);
    expect([outcome.outcome, outcome.code, seen.leased]).toEqual(["refused", code, 0]);
  });
});
