/** Attacks by code in a sandbox, on the real engine with the real image. */
import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { SupervisedSandbox } from "../../../services/sandbox-runner/src/conversation/supervised-sandbox.ts";
import { SEALED_SUPERVISOR } from "../../../services/sandbox-runner/src/supervisor/sealed-supervisor.ts";
import { PLAIN_SUPERVISOR } from "../../../services/sandbox-runner/src/supervisor/plain-supervisor.ts";
import { withSwap } from "../../../services/sandbox-runner/src/pool/swap-grant.ts";
import type { Sandbox } from "../../../services/sandbox-runner/src/ports.ts";
import { SHELL_PROBES, SYSCALL_PROBES, syscallProbeScript } from "../../support/escape-probes.ts";
import { shell, SMALL, testEngine } from "../../support/docker.ts";
import { openSwap, type TestSwap } from "../../support/swap-file.ts";

const EPERM = 1;
const ENOSYS = 38;
const test = testEngine("escape");

const SWAP = 64 * 2 ** 20;
const EMPTY = Buffer.alloc(1024);
const digest = createHash("sha256").update(EMPTY).digest("hex");

const layers = { tree: digest, environment: null };

let swap: TestSwap; // for all, so that none finds it
beforeAll(async () => {
  swap = await openSwap(SWAP);
});
afterAll(() => swap.close());

describe.each([
  ["a sandbox", {}],
  ["a sandbox over a layer", { layers }],
  ["a sandbox over a layer that may take swap", { layers, limits: withSwap(SMALL, SWAP) }],
])("code in %s", (_name, over) => {
  let sandbox: Sandbox;
  beforeAll(async () => {
    await test.provider.layers?.fill({ kind: "tree", digest }, () => Readable.from([EMPTY]));
    sandbox = await test.provider.start({ ...(await test.order()), ...over });
  });
  afterAll(async () => {
    await sandbox.destroy({ kind: "canceled", reason: "test over" });
    await test.expectNoContainers();
    await test.removeLayers();
  });

  it(`gets none of ${SYSCALL_PROBES.length} system calls past the filter`, async () => {
    const script = syscallProbeScript(SYSCALL_PROBES);
    const { stdout, stderr, exitCode } = await sandbox.run(
      shell("", { argv: ["python3", "-"], stdin: Buffer.from(script) }),
    );
    expect([exitCode, stderr.tail]).toEqual([0, ""]);
    const answers = stdout.bytes.toString().trim().split("\n").map(Number);
    expect(answers).toHaveLength(SYSCALL_PROBES.length);
    const holes = SYSCALL_PROBES.filter((_, i) => answers[i] !== EPERM && answers[i] !== ENOSYS);
    expect(holes.map(({ name }, i) => `${name}: ${String(answers[i])}`)).toEqual([]);
  });

  it.each(SHELL_PROBES)("cannot $name", async ({ script }) => {
    const { exitCode } = await sandbox.run(shell(script, { timeoutMs: 10_000 }));
    expect(exitCode).not.toBe(0);
  });

  it("can run every kind of program that builds and tests need", async () => {
    const programs = [
      "node -e 'process.stdout.write(String(6 * 7))'",
      "python3 -c 'print(6 * 7, end=\"\")'",
      "perl -e 'print 6 * 7'",
      "printf 'int main(void) { return 42; }' > a.c && gcc a.c -o a && ./a; printf $?",
      "git init -q . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x && printf 42; rm -rf .git",
      "mkfifo p && (echo 42 > p & head -c 2 p); rm p",
      "python3 -c 'import multiprocessing as m; p = m.Pool(2); print(sum(p.map(abs, [-40, -2])), end=\"\")'",
    ];
    for (const program of programs) {
      const { stdout, stderr } = await sandbox.run(shell(program));
      expect([program, stdout.tail, stderr.tail]).toEqual([program, "42", ""]);
    }
  });
});

describe("code that attacks its supervisor", () => {
  afterEach(() => test.expectNoContainers());

  async function inFresh<T>(use: (sandbox: Sandbox) => Promise<T>): Promise<T> {
    const sandbox = await test.provider.start(await test.order());
    try {
      return await use(sandbox);
    } finally {
      await sandbox.destroy({ kind: "canceled", reason: "test over" });
    }
  }

  it("sandbox-runner/S2: only produces output when it prints a frame of the supervisor", () =>
    inFresh(async (sandbox) => {
      const forged = "x 000000011\n0 0 0 0 0 0";
      const exit = await sandbox.run(
        shell(`printf '${forged.replace("\n", "\\n")}'; printf 'f 000000001\\nz' >&2; exit 7`),
      );
      expect([exit.exitCode, exit.stdout.tail]).toEqual([7, forged]);
    }));

  it("holds three pipes of its own, and no other open file", () =>
    inFresh(async (sandbox) => {
      const { stdout } = await sandbox.run(shell("ls -l /proc/self/fd | awk 'NR > 1 { print $9, $11 }'"));
      const held = stdout.tail.trim().split("\n");
      expect(held.map((line) => line.replace(/\[\d+\]$/, "[]"))).toEqual([
        "0 pipe:[]",
        "1 pipe:[]",
        "2 pipe:[]",
        expect.stringMatching(/^3 \/proc\/\d+\/fd$/), // the directory ls reads
      ]);
    }));

  it("sandbox-runner/S2: cannot write into the supervisor's stream by any way to open a file", () =>
    inFresh(async (sandbox) => {
      const attempts = [
        "for f in /proc/1/fd/* /proc/1/fd/0 /proc/1/fd/1 /proc/1/fd/2 /proc/1/task/*/fd/1 /proc/*/fd/*; do printf 'x 000000011\\n0 0 0 0 0 0' 2>/dev/null > $f; done",
        "printf 'x 000000011\\n0 0 0 0 0 0' | tee /dev/console /dev/tty /dev/pts/* /dev/ptmx",
        "python3 -c 'import os; fd = os.pidfd_open(1); import ctypes; print(ctypes.CDLL(None).syscall(438, fd, 1, 0))'",
      ];
      for (const attempt of attempts) {
        const exit = await sandbox.run(shell(`(${attempt}) >/dev/null 2>&1; exit 9`));
        expect(exit.exitCode).toBe(9);
      }
      expect(sandbox.sealed).toBe(true);
    }));

  it.each([
    ["perl", SEALED_SUPERVISOR],
    ["sh", PLAIN_SUPERVISOR],
  ])("cannot start a supervisor of its own, which only runs as PID 1: %s", (program, source) =>
    inFresh(async (sandbox) => {
      const script = `sleep 60 & ${program} ${program === "sh" ? "-c" : "-e"} "$SOURCE" </dev/null; echo "$?"; kill -0 $!`;
      const { stdout, exitCode } = await sandbox.run(shell(script, { env: { SOURCE: source } }));
      expect([Number(stdout.tail) > 0, exitCode]).toEqual([true, 0]); // It exited, and its neighbour lives.
    }),
  );

  it("cannot end, stop or confuse the supervisor by any signal", () =>
    inFresh(async (sandbox) => {
      const exit = await sandbox.run(
        shell(
          "for s in $(seq 1 64); do kill -$s 1; done 2>/dev/null; for s in $(seq 1 64); do kill -$s 1; done 2>/dev/null; exit 5",
        ),
      );
      expect(exit.exitCode).toBe(5);
      expect((await sandbox.run(shell("exit 6"))).exitCode).toBe(6);
    }));

  it("sandbox-runner/S3: ends with its step: none of its processes live on into the next", () =>
    inFresh(async (sandbox) => {
      const script =
        "setsid sh -c 'sleep 60; echo late' & (sleep 60 &) & nohup sleep 60 >/dev/null 2>&1 & echo started";
      const started = performance.now();
      expect((await sandbox.run(shell(script))).stdout.tail).toBe("started\n");
      expect(performance.now() - started).toBeLessThan(5_000);
      const { stdout } = await sandbox.run(shell("ls /proc | grep -cE '^[0-9]+$'"));
      expect(Number(stdout.tail)).toBeLessThanOrEqual(4); // the supervisor, sh, ls, grep
    }));

  it("cannot change another process of its own step", () =>
    inFresh(async (sandbox) => {
      const judged =
        "for p in /proc/[0-9]*; do printf x > $p/mem; done 2>/dev/null; for p in /proc/[0-9]*; do dd if=/dev/zero of=$p/mem bs=1 count=1 seek=4096 conv=notrunc; done 2>&1 | grep -c 'Permission denied'";
      const { stdout } = await sandbox.run(shell(judged));
      const { landlock } = sandbox as SupervisedSandbox;
      // Without Landlock in the kernel only ptrace's rules protect the process, and the runner reports that.
      if (landlock > 0) expect(Number(stdout.tail)).toBeGreaterThan(1);
      else expect(landlock).toBe(0);
    }));

  it("is read in at most one piece a millisecond when it writes byte by byte", () =>
    inFresh(async (sandbox) => {
      const bytes = 10_000;
      const crumbs = `$| = 1; for (1 .. ${bytes}) { syswrite($_ % 2 ? STDOUT : STDERR, "x"); select(undef, undef, undef, 0.00001) }`;
      let pieces = 0;
      const onOutput = (): void => void (pieces += 1);
      const exit = await sandbox.run(shell("", { argv: ["perl", "-e", crumbs], onOutput }));
      expect(exit.stdout.produced + exit.stderr.produced).toBe(bytes);
      expect(pieces).toBeLessThan(64 + 2 * exit.durationMs); // for two streams
      expect(pieces).toBeLessThan(bytes / 2);
    }));

  it("ends when its runner's end of the stream closes", async () => {
    const { engine, instance } = test;
    const sandbox = await test.provider.start(await test.order());
    const running = sandbox.run(shell("trap '' TERM INT HUP; sleep 60")).catch(() => undefined);
    await engine.list(instance);
    sandbox.hangUp();
    await sandbox.gone;
    await running;
  });
});
