/** Every limit ends in a named result, within its bound, and takes its container with it. */
import { afterEach, describe, expect, it } from "vitest";
import { endingOfDeath, endingOfExit } from "../../../services/sandbox-runner/src/jobs/ending.ts";
import { Refusal } from "../../../services/sandbox-runner/src/workspace/refusal.ts";
import {
  SandboxDied,
  type Command,
  type ContainerLimits,
  type Sandbox,
} from "../../../services/sandbox-runner/src/ports.ts";
import { shell, testEngine } from "../../support/docker.ts";

const test = testEngine("limits");
const MiB = 1024 * 1024;

async function inSandbox<T>(
  use: (sandbox: Sandbox) => Promise<T>,
  limits: Partial<ContainerLimits> = {},
): Promise<T> {
  const sandbox = await test.provider.start(await test.order(limits));
  try {
    return await use(sandbox);
  } finally {
    await sandbox.destroy({ kind: "canceled", reason: "test over" });
  }
}

/** The code that the end of a command is reported with; "ok" when there is none. */
async function nameOf(sandbox: Sandbox, command: Command): Promise<string> {
  try {
    return endingOfExit(await sandbox.run(command), "s")?.code ?? "ok";
  } catch (error) {
    if (error instanceof SandboxDied) return endingOfDeath(error.death, "s").code ?? "ok";
    throw error;
  }
}

afterEach(() => test.expectNoContainers());

describe("a limit", () => {
  const FORK_BOMB = "import os\nwhile True:\n  try: os.fork()\n  except OSError: pass";
  const cases: readonly (readonly [name: string, command: Command, code: string])[] = [
    ["of memory, met by the command", shell("python3 -c 'x = bytearray(800 << 20)'"), "ANT_SANDBOX_OOM"],
    ["of memory, met by a child", shell("python3 -c 'x = bytearray(800 << 20)'; exit 3"), "ANT_SANDBOX_OOM"],
    [
      "of memory, met by files",
      shell("dd if=/dev/zero of=/dev/shm/x bs=1M; python3 -c 'x = bytearray(250 << 20)'"),
      "ANT_SANDBOX_OOM",
    ],
    ["of processes", shell("for i in $(seq 200); do sleep 20 & done; exit 1"), "ANT_SANDBOX_PIDS"],
    ["of disk in /workspace", shell("dd if=/dev/zero of=big bs=1M count=100"), "ANT_SANDBOX_DISK"],
    ["of disk in /tmp", shell("dd if=/dev/zero of=/tmp/big bs=1M count=100"), "ANT_SANDBOX_DISK"],
    ["of files", shell("i=0; while : > f$i; do i=$((i+1)); done; exit 1"), "ANT_SANDBOX_DISK"],
    ["of time, by sleep", shell("sleep 60", { timeoutMs: 300 }), "ANT_SANDBOX_TIMEOUT"],
    ["of time, by a busy loop", shell("while :; do :; done", { timeoutMs: 300 }), "ANT_SANDBOX_TIMEOUT"],
    [
      "of time, with TERM ignored",
      shell("trap '' TERM INT HUP QUIT; while :; do sleep 1; done", { timeoutMs: 300 }),
      "ANT_SANDBOX_TIMEOUT",
    ],
    [
      "of time, by a double fork that holds the output",
      shell("(setsid sleep 60 &) ; sleep 60", { timeoutMs: 300 }),
      "ANT_SANDBOX_TIMEOUT",
    ],
    [
      "of time, by a fork bomb",
      shell("", { argv: ["python3", "-c", FORK_BOMB], timeoutMs: 1_000 }),
      "ANT_SANDBOX_TIMEOUT",
    ],
    ["of time, stopped", shell("kill -STOP $$", { timeoutMs: 300 }), "ANT_SANDBOX_TIMEOUT"],
    ["of output", shell("head -c 100M /dev/zero", { maxOutputBytes: 16 * MiB }), "ANT_SANDBOX_OUTPUT"],
    [
      "of output, without end or newline",
      shell("cat /dev/zero", { maxOutputBytes: 16 * MiB }),
      "ANT_SANDBOX_OUTPUT",
    ],
  ];
  it.each(cases)("%s is reported by its code", (_name, command, code) =>
    inSandbox(async (sandbox) => {
      const started = performance.now();
      expect(await nameOf(sandbox, command)).toBe(code);
      expect(performance.now() - started).toBeLessThan(15_000);
    }),
  );

  it("that a program overcomes is no failure", () =>
    inSandbox(async (sandbox) => {
      expect(
        await nameOf(sandbox, shell("dd if=/dev/zero of=big bs=1M count=100 2>/dev/null; rm big; true")),
      ).toBe("ok");
      expect(await nameOf(sandbox, shell("python3 -c 'x = bytearray(800 << 20)' || true"))).toBe("ok");
      expect(await nameOf(sandbox, shell("exit 3"))).toBe("ok");
    }));

  it("of memory that kills the supervisor itself is distinguished from a crash", async () => {
    const watching = new AbortController();
    const watch = test.provider.watchMemory(test.instance, watching.signal);
    // The kernel kills the largest process. A crowd that never stops growing forces it to go on until all are gone.
    await inSandbox(
      async (sandbox) => {
        const crowd =
          "import os\nfor i in range(40):\n  if os.fork() == 0: break\nx = []\nwhile True: x.append(bytearray(1 << 20))";
        const name = await nameOf(sandbox, shell("", { argv: ["python3", "-c", crowd] }));
        expect(name).toBe("ANT_SANDBOX_OOM");
      },
      { memoryBytes: 64 * MiB },
    );
    watching.abort();
    await watch;
  });

  it("of time ends the whole process tree and the container", async () => {
    const sandbox = await test.provider.start(await test.order());
    await expect(sandbox.run(shell("setsid sleep 60 & sleep 60", { timeoutMs: 200 }))).rejects.toThrow(
      SandboxDied,
    );
    await test.expectNoContainers();
    await expect(sandbox.run(shell("true"))).rejects.toThrow(SandboxDied);
  });

  it("of kept output leaves the head, the tail and a true count", () =>
    inSandbox(async (sandbox) => {
      const { stdout } = await sandbox.run(
        shell("echo first; head -c 3000000 /dev/zero | tr '\\0' x; echo last", { keepBytes: 1000 }),
      );
      expect(stdout.produced).toBe(3_000_011);
      expect(stdout.bytes.length).toBeLessThan(1100);
      expect(stdout.bytes.toString()).toMatch(/^first\nx+\n\[\.\.\. \d+ bytes not kept \.\.\.\]\nx+last\n$/);
    }));

  it("of time takes effect in the middle of a tar that never ends", () =>
    inSandbox(async (sandbox) => {
      async function* endless(): AsyncGenerator<Buffer> {
        for (;;) yield await new Promise<Buffer>((resolve) => setImmediate(resolve, Buffer.alloc(65536)));
      }
      const put = sandbox.putTar(endless());
      const stopped = expect(put).rejects.toThrow(SandboxDied);
      await sandbox.destroy({ kind: "canceled", reason: "enough" });
      await stopped;
    }));
});

describe("cancel", () => {
  it("removes the container within three seconds, whatever runs in it", async () => {
    const figures: number[] = [];
    for (const script of [
      "sleep 60",
      "trap '' TERM; while :; do :; done",
      "cat /dev/zero",
      "yes >/tmp/x & sleep 60",
    ]) {
      const sandbox = await test.provider.start(await test.order());
      const running = sandbox.run(shell(script, { maxOutputBytes: 2 ** 40 }));
      const ended = expect(running).rejects.toMatchObject({ death: { kind: "canceled" } });
      const started = performance.now();
      await sandbox.destroy({ kind: "canceled", reason: "no longer wanted" });
      figures.push(performance.now() - started);
      await ended;
    }
    expect(Math.max(...figures)).toBeLessThan(3_000);
  });
});

describe("files", () => {
  const bounds = { maxEntries: 5_000, maxFiles: 2_000, maxBytes: 8 * MiB };
  const empty = new Map();

  async function refusalOf(script: string, limits: Partial<ContainerLimits> = {}): Promise<string> {
    return inSandbox(async (sandbox) => {
      await sandbox.run(shell(script));
      try {
        await sandbox.collect(empty, bounds);
      } catch (error) {
        if (error instanceof Refusal) return error.rule;
        throw error;
      }
      return "nothing";
    }, limits);
  }

  it.each([
    ["ln -s /etc/passwd l", "type-symlink"],
    ["ln -s . loop", "type-symlink"],
    ["echo a > a; ln a b", "type-hardlink"],
    ["mkfifo p", "type-fifo"],
    ["mkdir -p '.GIT'; echo x > .GIT/config", "path-git"],
    ["echo x > \"$(printf 'a\\nb')\"", "path-control"],
    ["echo x > \"$(printf 'a\\377b')\"", "path-text"],
    ["echo x > 'a\\b'", "path-backslash"],
    [
      'python3 -c \'import os; d = "d" * 200; [(os.mkdir(d), os.chdir(d)) for i in range(60)]; open("f", "w")\'',
      "path-length",
    ],
    ["truncate -s 7G sparse", "too-many-bytes"],
    ["truncate -s 1T sparse", "too-many-bytes"],
    ["head -c 9M /dev/zero > big", "too-many-bytes"],
    ["for i in $(seq 2100); do : > f$i; done", "too-many-files"],
    ['python3 -c \'import os; [open(f"f{i}", "w").close() for i in range(5100)]\'', "too-many-entries"],
  ])("sandbox-runner/S5: made by %s are refused by their rule", async (script, rule) => {
    expect(await refusalOf(script)).toBe(rule);
  });

  it("of the ordinary kind come out unchanged, even binary and executable ones", () =>
    inSandbox(async (sandbox) => {
      const script =
        "mkdir -p a/b; printf '\\0\\377' > a/b/bin; echo '#!/bin/sh' > run; chmod 755 run; echo ü > 'mit leerzeichen'; chmod 4755 run; git init -q .";
      await sandbox.run(shell(script));
      const { files, deletions } = await sandbox.collect(empty, bounds);
      expect(files.map(({ path, mode, content }) => [path, mode, content.toString("latin1")])).toEqual([
        ["a/b/bin", "100644", "\0\xff"],
        ["mit leerzeichen", "100644", "\xc3\xbc\n"],
        ["run", "100755", "#!/bin/sh\n"],
      ]);
      expect(deletions).toEqual([]);
    }));
});
