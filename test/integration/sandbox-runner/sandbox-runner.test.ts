/** The sandbox-runner over real NATS and the real engine: jobs, cancellation, and a runner that stops. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import {
  BUCKETS,
  encode,
  decode,
  subjects,
  type LogLine,
  type SandboxEvent,
  type SandboxOutcome,
  type SandboxRequest,
} from "@antiphon/contracts";
import {
  createLogger,
  listen,
  openBlobs,
  readRuntimeConfig,
  sandboxClient,
  startService,
  type Bus,
  type RunningService,
  type SandboxClient,
} from "@antiphon/runtime";
import type { SandboxConfig } from "../../../services/sandbox-runner/src/config.ts";
import { startSandboxRunner, type Runner } from "../../../services/sandbox-runner/src/wiring.ts";
import { canonicalTar } from "../../../services/sandbox-runner/src/workspace/tar-writer.ts";
import { rawTar } from "../../support/raw-tar.ts";
import { startNats, type NatsServer } from "../../support/nats.ts";
import { sandboxImage, testEngine, until } from "../../support/docker.ts";
import { patient } from "../../support/patience.ts";

const test = testEngine("runner");
const SLOTS = 8;
const TREE = "tree-0123456789abcdef.tar";
const file = (path: string, content: string, mode: "100644" | "100755" = "100644") => ({
  path,
  mode,
  content: Buffer.from(content),
});

let nats: NatsServer;
let service: RunningService;
let runner: Runner;
let bus: Bus;
let client: SandboxClient;
let directory: string;
let serial = 0;

/** A runner in this process. */
function startRunner(
  natsUrl: string,
  instance: string,
  drainMs: number,
  onStart: (runner: Runner) => void = () => undefined,
): Promise<RunningService> {
  const config: SandboxConfig = {
    mode: "production",
    provider: "docker",
    e2b: { apiKey: null, domain: null, apiUrl: null, sandboxUrl: null },
    path: process.env["PATH"] ?? "",
    home: "/nowhere",
    instance,
    image: sandboxImage(),
    allow: [],
    allowlistFile: join(directory, "images.json"),
    slots: SLOTS,
    warm: 2,
    runtime: "runc",
    treeDirectory: directory,
    swapBytes: 0,
    treeBytes: 1e9,
    keyFile: join(directory, "runner-key.pem"),
    trustedRunnersFile: null,
  };
  return startService(
    {
      name: "sandbox-runner",
      start: async (context) => {
        const started = await startSandboxRunner(context, () => config);
        onStart(started);
        return started;
      },
    },
    { ...readRuntimeConfig({ ANTIPHON_UNSAFE_TRUST: "1" }), natsUrl, drainMs },
    createLogger("test", { level: "silent" }),
  );
}

beforeAll(async () => {
  nats = await startNats();
  directory = mkdtempSync(join(tmpdir(), "antiphon-trees-"));
  service = await startRunner(nats.url, test.instance, 5_000, (started) => (runner = started));
  bus = await nats.connect();
  client = sandboxClient(bus, { requester: "test" });
  const tree = canonicalTar([
    file("README.md", "hello\n"),
    file("bin/run", "#!/bin/sh\necho ran\n", "100755"),
    file("src/a.txt", "a\n"),
    file("src/b.txt", "b\n"),
  ]);
  await openBlobs(bus, BUCKETS.repos).put(TREE, tree);
});

afterAll(async () => {
  await service.stop();
  rmSync(directory, { recursive: true, force: true });
  await nats.close();
  await test.expectNoContainers();
});

/** Only warm containers may be left. */
afterEach(async () => {
  const busy = await until(
    async () => (await test.containers()).filter(({ name }) => !name.includes("warm")),
    (found) => found.length === 0,
    5_000,
  );
  expect(busy.map(({ name }) => name)).toEqual([]);
});

const step = (id: string, script: string, more: Partial<SandboxRequest["steps"][number]> = {}) => ({
  id,
  argv: ["sh", "-c", script],
  env: {},
  timeoutMs: 20_000,
  continueOnFailure: false,
  ...more,
});

const NOTHING = { tree: null, files: [], overlay: null, deletions: [] };

function request(changes: Partial<SandboxRequest> = {}): SandboxRequest {
  return {
    jobId: `job_${process.pid}_${(serial += 1)}`,
    run: "run_aaaaaaaaaaaaaaaaaaaa",
    task: "T-001",
    epoch: 1,
    purpose: "attempt",
    image: null,
    budgetMs: 30_000,
    workspace: { tree: TREE, files: [], overlay: null, deletions: [] },
    steps: [step("s", "true")],
    collect: false,
    ...changes,
  };
}

async function run(
  changes: Partial<SandboxRequest> = {},
  signal = new AbortController().signal,
): Promise<{ outcome: SandboxOutcome; events: SandboxEvent[] }> {
  const events: SandboxEvent[] = [];
  const outcome = await client.run(request(changes), { signal, onEvent: (event) => events.push(event) });
  return { outcome, events };
}

async function text(ref: { bucket: string; name: string } | null): Promise<string> {
  return ref === null ? "" : String(await openBlobs(bus, ref.bucket).get(ref.name));
}

describe("a job", () => {
  it("is accepted, started, stepped through and done, with its output in the object store", async () => {
    const { outcome, events } = await run({
      steps: [
        step("one", "./bin/run; cat; echo $GREETING; pwd", {
          stdin: "in\n",
          env: { GREETING: "hi" },
          cwd: ".",
        }),
        step("two", "echo oops >&2; exit 3", { continueOnFailure: true }),
        step("three", "pwd", { cwd: "src" }),
      ],
    });
    const kinds = events.map(({ kind }) => kind).filter((kind) => kind !== "beat");
    expect(kinds).toEqual(["accepted", "started", "step", "step", "step", "done"]);
    expect(outcome).toMatchObject({ outcome: "completed", code: null, meta: { provider: "docker" } });
    expect(outcome.steps.map(({ id, exitCode, timedOut }) => [id, exitCode, timedOut])).toEqual([
      ["one", 0, false],
      ["two", 3, false],
      ["three", 0, false],
    ]);
    expect(await text(outcome.steps[0]?.stdout.blob ?? null)).toBe("ran\nin\nhi\n/workspace\n");
    expect(outcome.steps[1]?.stderr).toMatchObject({ tail: "oops\n", bytes: 5, kept: 5, truncated: false });
    expect(outcome.steps[2]?.stdout.tail).toBe("/workspace/src\n");
  });

  it("stops at the first failure unless told to go on", async () => {
    const { outcome } = await run({ steps: [step("a", "exit 4"), step("b", "true")] });
    expect(outcome.outcome).toBe("completed");
    expect(outcome.steps.map(({ id, exitCode }) => [id, exitCode])).toEqual([["a", 4]]);
  });

  it("gets the tree, minus deletions, plus the overlay, plus files, and reports the changes since", async () => {
    const overlay = await openBlobs(bus, BUCKETS.evidenceFiles).put(
      null,
      canonicalTar([file("src/a.txt", "overlay\n"), file("src/c.txt", "c\n")]),
    );
    const script =
      "cat README.md src/a.txt src/c.txt; ls src; echo new > new.txt; rm src/a.txt; chmod +x src/c.txt";
    const { outcome } = await run({
      collect: true,
      workspace: {
        tree: TREE,
        overlay,
        deletions: ["src/b.txt", "not/there"],
        files: [
          {
            path: "README.md",
            content: Buffer.from("file\n").toString("base64"),
            encoding: "base64",
            mode: "100644",
          },
        ],
      },
      steps: [step("s", script)],
    });
    expect(outcome.steps[0]?.stdout.tail).toBe("file\noverlay\nc\na.txt\nc.txt\n");
    expect(outcome.changes?.files.map(({ path, mode, bytes }) => [path, mode, bytes])).toEqual([
      ["new.txt", "100644", 4],
      ["src/c.txt", "100755", 2],
    ]);
    expect(outcome.changes?.deletions).toEqual(["src/a.txt"]);
    const tar = await openBlobs(bus, BUCKETS.evidenceFiles).get(outcome.changes?.overlay?.name ?? "");
    expect(tar.equals(canonicalTar([file("new.txt", "new\n"), file("src/c.txt", "c\n", "100755")]))).toBe(
      true,
    );
  });

  it("collects after the step it names, not what later steps leave behind", async () => {
    const { outcome } = await run({
      collect: true,
      collectAfter: "work",
      steps: [step("work", "echo 1 > made"), step("check", "echo 2 > litter; cat made")],
    });
    expect(outcome.changes?.files.map(({ path }) => path)).toEqual(["made"]);
    expect(outcome.steps[1]?.stdout.tail).toBe("1\n");
  });

  it("reports that it was killed at its time limit, with its output so far", async () => {
    const { outcome } = await run({
      steps: [step("slow", "echo begun; sleep 30", { timeoutMs: 2_000 }), step("next", "true")],
    });
    expect(outcome).toMatchObject({ outcome: "timeout", code: "ANT_SANDBOX_TIMEOUT" });
    expect(outcome.steps).toHaveLength(1);
    expect(outcome.steps[0]).toMatchObject({ exitCode: null, timedOut: true, stdout: { tail: "begun\n" } });
  });

  it("is bounded by its budget as well as by its steps", async () => {
    const { outcome } = await run({ budgetMs: 500, steps: [step("a", "sleep 0.3"), step("b", "sleep 30")] });
    expect(outcome.outcome).toBe("timeout");
  });

  it("whose files break a rule ends in an error that names the rule, and brings no file out", async () => {
    const { outcome } = await run({ collect: true, steps: [step("s", "echo x > ok; ln -s /etc/passwd l")] });
    expect(outcome).toMatchObject({ outcome: "error", code: "ANT_SANDBOX_OUTPUT", changes: null });
    expect(outcome.message).toContain("type-symlink");
  });

  it.each([
    ["files that break a rule", { steps: [step("s", "ln -s /etc/passwd l")], collect: true }, "error"],
    ["its time limit", { steps: [step("s", "sleep 60", { timeoutMs: 200 })] }, "timeout"],
  ] as const)(
    "ended by %s is reported when its container is gone, so that another try has the only one",
    async (_name, changes, expected) => {
      const { outcome } = await run({ ...changes, steps: [...changes.steps] });
      const left = await test.containers();
      expect(outcome.outcome).toBe(expected);
      expect(left.filter(({ id }) => id === outcome.meta.containerId)).toEqual([]);
    },
  );

  it("reports the limits of memory, processes and disk by code", async () => {
    const codes = await Promise.all(
      [
        "python3 -c 'x = bytearray(6000 << 20)'",
        "for i in $(seq 400); do sleep 20 & done; exit 1",
        "dd if=/dev/zero of=/tmp/x bs=1M count=1000",
        // All memory of a sandbox is written before its end, which takes a busy machine longer than a step usually may.
      ].map(async (script) => {
        const { outcome } = await run({
          budgetMs: 100_000,
          steps: [step("s", script, { timeoutMs: 90_000 })],
        });
        return outcome.code;
      }),
    );
    expect(codes).toEqual(["ANT_SANDBOX_OOM", "ANT_SANDBOX_PIDS", "ANT_SANDBOX_DISK"]);
  });

  it("that filled its disk with a file too large to be brought out names the disk", async () => {
    // A busy machine writes for longer than a step usually may.
    const fills = step("s", "head -c 5000000000 /dev/zero > big", { timeoutMs: 90_000 });
    const { outcome } = await run({ collect: true, budgetMs: 100_000, steps: [fills] });
    expect(outcome).toMatchObject({ outcome: "error", code: "ANT_SANDBOX_DISK", changes: null });
    expect(outcome.message).toContain("too-many-bytes");
  });

  const TRIALS = { least: 3, most: 3, withinMs: 0 };
  const exits = ({ steps, trials = [] }: SandboxOutcome) =>
    [steps, ...trials].map((trial) => trial.map(({ exitCode }) => exitCode));

  it("runs each trial on the files and in the directories of the first", async () => {
    const overlay = await openBlobs(bus, BUCKETS.evidenceFiles).put(
      null,
      canonicalTar([file("src/a.txt", "new\n")]),
    );
    const script = [
      'test "$(cat src/a.txt)" = new',
      "test ! -e src/b.txt",
      "mkdir out /tmp/out /dev/shm/out",
      "touch out/x /tmp/out/x",
      "chmod 000 out /tmp/out",
      "rm -r bin",
      "echo broken > src/a.txt",
    ].join(" && ");
    const { outcome } = await run({
      purpose: "verify",
      workspace: { ...NOTHING, tree: TREE, overlay, deletions: ["src/b.txt"] },
      steps: [step("s", script)],
      trials: TRIALS,
    });
    expect(exits(outcome)).toEqual([[0], [0], [0]]);
    expect(outcome.written).toEqual({
      changed: ["bin/run", "src/a.txt"],
      restored: [],
      made: ["out/", "out/x"],
      complete: true,
    });
  });

  it("tells every file of the tree that a trial opened, where no change is known yet", async () => {
    const opening = step("s", "cat src/a.txt README.md; echo new > src/b.txt; touch made; cat made");
    const order: Partial<SandboxRequest> = { purpose: "base", steps: [opening], trials: TRIALS };
    const { outcome } = await run({ ...order, tracedTree: true });
    expect(outcome.written?.read).toEqual(["README.md", "src/a.txt"]);
    expect((await run(order)).outcome.written?.read).toBeUndefined();
  });

  it("leaves a slot when nobody waits for it, and is answered `busy` where none else is free", async () => {
    const stop = new AbortController();
    const started: string[] = [];
    const taking = Array.from({ length: SLOTS - 1 }, async () => {
      const order = request({ steps: [step("s", "sleep 60", { timeoutMs: 90_000 })] });
      const onEvent = ({ kind }: SandboxEvent): void =>
        void (kind === "accepted" && started.push(order.jobId));
      return client.run(order, { signal: stop.signal, onEvent });
    });
    const taken = await until(
      () => Promise.resolve(started.length),
      (count) => count === SLOTS - 1,
      20_000,
    );
    expect(taken).toBe(SLOTS - 1);
    const { signal } = new AbortController();
    const spare = client.run(request({ spare: true }), { signal, patienceMs: 0 });
    await expect(spare).rejects.toMatchObject({ code: "ANT_SANDBOX_BUSY" });
    expect((await run()).outcome.outcome).toBe("completed");
    stop.abort();
    expect((await Promise.all(taking)).map(({ outcome }) => outcome)).toEqual(
      Array.from({ length: SLOTS - 1 }, () => "canceled"),
    );
  });

  it("runs trials until two of them differ", async () => {
    const coin = step("coin", "test $(od -An -N1 -tu1 /dev/urandom) -lt 128; x=$?; echo $x; exit $x");
    const { outcome } = await run({
      purpose: "verify",
      steps: [coin],
      trials: { least: 60, most: 60, withinMs: 0 },
    });
    const ends = exits(outcome).flat();
    expect(new Set(ends)).toEqual(new Set([0, 1]));
    expect(ends.indexOf(ends[0] === 0 ? 1 : 0)).toBe(ends.length - 1);
    expect(outcome.trials?.at(-1)?.[0]?.stdout.tail).toBe(`${ends.at(-1)}\n`);
  });

  it("keeps a trial that ran out of time beside those that did not", async () => {
    const slowAtLast = "n=$(date +%s%N); case $(((n / 1000) % 2)) in 0) true ;; *) sleep 30 ;; esac";
    const { outcome } = await run({
      purpose: "verify",
      steps: [step("s", slowAtLast, { timeoutMs: 700 })],
      trials: { least: 20, most: 20, withinMs: 0 },
    });
    const last = [outcome.steps, ...(outcome.trials ?? [])].at(-1);
    expect([outcome.outcome, last?.[0]?.timedOut]).toEqual([
      outcome.trials === undefined ? "timeout" : "completed",
      true,
    ]);
  });

  it("publishes its output live, while it runs", async () => {
    const heard: string[] = [];
    const stop = listen<LogLine>(bus, subjects.logsOfRun("run_aaaaaaaaaaaaaaaaaaaa"), ({ text: line }) =>
      heard.push(line),
    );
    const { outcome } = await run({ steps: [step("s", "echo now; sleep 0.5; echo later")] });
    stop();
    expect(outcome.outcome).toBe("completed");
    expect(heard.join("")).toContain("now\n");
  });
});

describe("a job that is not allowed", () => {
  const tiny = { tree: null, overlay: null, deletions: [], files: [] };
  it.each<[string, Partial<SandboxRequest>, string]>([
    ["an image that is not on the list", { image: "debian:latest" }, "ANT_SANDBOX_IMAGE_NOT_ALLOWED"],
    ["looser limits", { limits: { memoryBytes: 2 ** 50 } }, "ANT_SANDBOX_REFUSED"],
    ["a directory outside", { steps: [step("s", "pwd", { cwd: "../.." })] }, "ANT_SANDBOX_PATH"],
    [
      "a tree with a name like a path",
      { workspace: { ...tiny, tree: "../../etc/passwd" } },
      "ANT_SANDBOX_REFUSED",
    ],
  ])("is refused: %s", async (_name, changes, code) => {
    const { outcome } = await run(changes);
    expect([outcome.outcome, outcome.code]).toEqual(["refused", code]);
  });

  it.each<[string, Partial<SandboxRequest["workspace"]>]>([
    ["a deletion outside", { deletions: ["../x"] }],
    ["a file outside", { files: [{ path: "/etc/x", content: "", encoding: "utf8", mode: "100644" }] }],
  ])("is refused: %s", async (_name, changes) => {
    await expect(run({ workspace: { ...tiny, ...changes } })).rejects.toMatchObject({
      code: "ANT_SANDBOX_REFUSED",
    });
  });

  it("is refused: an overlay with a link in it", async () => {
    const overlay = await openBlobs(bus, BUCKETS.evidenceFiles).put(
      null,
      rawTar({ name: "l", type: "2", link: "/etc" }),
    );
    const { outcome } = await run({ workspace: { ...tiny, overlay } });
    expect([outcome.outcome, outcome.code]).toEqual(["refused", "ANT_SANDBOX_PATH"]);
  });

  it("is answered with a coded error when it is not a valid request", async () => {
    const answer = await bus.nc.request(subjects.sandboxRun, encode({ hello: "world" }), {
      timeout: patient(5_000),
    });
    expect(decode(answer.data)).toMatchObject({ ok: false, code: "ANT_SANDBOX_REFUSED" });
  });
});

describe("many jobs", () => {
  it(`run ${SLOTS} at once, each in a container of its own, and one more waits`, async () => {
    const jobs = await Promise.all(
      Array.from({ length: SLOTS + 3 }, (_, i) =>
        run({ steps: [step("s", `echo ${i} > mine; sleep 1; cat mine`)] }),
      ),
    );
    expect(jobs.map(({ outcome }) => outcome.steps[0]?.stdout.tail)).toEqual(jobs.map((_, i) => `${i}\n`));
    expect(new Set(jobs.map(({ outcome }) => outcome.meta.containerId)).size).toBe(jobs.length);
    expect(jobs.some(({ events }) => events.some(({ kind }) => kind === "busy"))).toBe(true);
  });

  it("find a warm container when they come one by one", async () => {
    await until(
      async () => await Promise.resolve(runner.pool.counts.ready),
      (ready) => ready === 2,
      10_000,
    );
    const { outcome } = await run();
    expect(outcome.meta.bootMs).toBeLessThan(40);
  });
});

describe("cancel", () => {
  it("sandbox-runner/S4: removes the container within its bound", async () => {
    const stop = new AbortController();
    const running = client
      .run(request({ steps: [step("s", "trap '' TERM; sleep 60")] }), {
        signal: stop.signal,
        onEvent: ({ kind }) => {
          if (kind === "started") setTimeout(() => stop.abort(), 100);
        },
      })
      .then((outcome) => outcome.outcome);
    expect(await running).toBe("canceled");
    expect((await test.containers()).filter(({ name }) => !name.includes("warm"))).toEqual([]);
  });

  it("sandbox-runner/S4: happens by itself when the requester goes silent", async () => {
    const silent = request({ steps: [step("s", "sleep 60")] });
    const events: SandboxEvent[] = [];
    const subscription = bus.nc.subscribe("test.silent", {
      callback: (_error, message) => {
        events.push(decode(message.data) as SandboxEvent);
      },
    });
    bus.nc.publish(subjects.sandboxRun, encode(silent), { reply: "test.silent" });
    const done = await until(
      async () => await Promise.resolve(events.find(({ kind }) => kind === "done")),
      (event) => event !== undefined,
      20_000,
    );
    subscription.unsubscribe();
    expect(done).toMatchObject({ result: { outcome: "canceled", message: "the requester went silent" } });
  });
});

describe("a runner that is stopped hard", () => {
  it("cancels every job, says so, and leaves no container", async () => {
    const server = await startNats();
    const instance = `${test.instance}-h`;
    const stopped = await startRunner(server.url, instance, 200);
    const theirClient = sandboxClient(await server.connect(), { requester: "test" });
    let begun = 0;
    const jobs = Array.from({ length: 3 }, () =>
      theirClient.run(request({ workspace: NOTHING, steps: [step("s", "trap '' TERM; sleep 60")] }), {
        signal: new AbortController().signal,
        onEvent: ({ kind }) => void (begun += kind === "started" ? 1 : 0),
      }),
    );
    await until(
      () => Promise.resolve(begun),
      (count) => count === jobs.length,
      20_000,
    );
    const started = performance.now();
    await stopped.stop();
    expect(performance.now() - started).toBeLessThan(10_000);
    for (const outcome of await Promise.all(jobs))
      expect(outcome).toMatchObject({ outcome: "canceled", message: "the runner stops" });
    expect(await test.engine.list(instance)).toEqual([]);
    await server.close();
  });
});
