/**
 * The promises of every sandbox provider, as tests that any provider can run (docs/guides/sandbox-providers.md).
 *
 * `sandboxConformance("mine", subject)` in a Vitest file registers them. A provider reports limits that it cannot enforce
 * in its `enforces`, and a sandbox reports in its `sealed` whether it is sealed. The tests then check that these reports
 * are honest.
 */
import { afterEach, describe, expect, it } from "vitest";
import { collectBounds } from "../job-limits.ts";
import { Refusal } from "../workspace/refusal.ts";
import { canonicalTar, comparePaths } from "../workspace/tar-writer.ts";
import {
  SandboxDied,
  type Command,
  type CommandExit,
  type ContainerLimits,
  type Sandbox,
  type SandboxOrder,
  type SandboxProvider,
} from "../ports.ts";

export interface ConformanceSubject {
  provider(): SandboxProvider;
  /**
   * An order for a sandbox of an image with sh, tar and coreutils; `limits` on top of at most 256 MiB and 64 processes.
   */
  order(limits?: Partial<ContainerLimits>): Promise<SandboxOrder>;
  /** The sandboxes of this subject that still exist, in the provider's own listing. */
  leftovers(): Promise<readonly string[]>;
}

const MiB = 1024 * 1024;
const ENV = { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: "/tmp", LANG: "C.UTF-8" };
const GONE_MS = 5_000;
type Use<T> = (sandbox: Sandbox) => Promise<T>;

function shell(script: string, changes: Partial<Command> = {}): Command {
  return {
    argv: ["sh", "-c", script],
    cwd: "/workspace",
    env: ENV,
    stdin: null,
    timeoutMs: 30_000,
    keepBytes: 64 * 1024,
    maxOutputBytes: 64 * MiB,
    ...changes,
  };
}

const out = ({ stdout }: CommandExit): string => stdout.bytes.toString("utf8");
/** Only a sealed supervisor reports which signal it was. */
const killedBy = (signal: number, { sealed }: Sandbox) => ({
  exitCode: 128 + signal,
  signal: sealed ? signal : 0,
});
const file = (path: string, content: string | Buffer, mode: "100644" | "100755" = "100644") => ({
  path,
  mode,
  content: Buffer.from(content),
});

export function sandboxConformance(name: string, subject: ConformanceSubject): void {
  const inSandbox = async <T>(use: Use<T>, limits?: Partial<ContainerLimits>): Promise<T> => {
    const sandbox = await subject.provider().start(await subject.order(limits));
    try {
      return await use(sandbox);
    } finally {
      await sandbox.destroy({ kind: "canceled", reason: "the test is over" });
    }
  };
  describe(`${name}: a sandbox provider`, () => {
    afterEach(async () => {
      expect(await settled(() => subject.leftovers())).toEqual([]);
    });
    describe("files", () => fileTests(inSandbox));
    describe("commands", () => commandTests(inSandbox));
    describe("commands", () => shellTests(inSandbox));
    describe("the end of a sandbox", () => endTests(inSandbox, subject));
    describe("isolation", () => isolationTests(inSandbox));
  });
}

type InSandbox = <T>(use: Use<T>, limits?: Partial<ContainerLimits>) => Promise<T>;

function fileTests(inSandbox: InSandbox): void {
  it("come in and go out byte by byte, with their modes", () =>
    inSandbox(async (sandbox) => {
      const all = Buffer.from(Uint8Array.from({ length: 4096 }, (_, i) => i % 256));
      await sandbox.putTar(
        canonicalTar([file("a/raw", all), file("run", "#!/bin/sh\necho ran\n", "100755")]),
      );
      expect(out(await sandbox.run(shell("./run; wc -c < a/raw")))).toMatch(/^ran\n\s*4096\n$/);
      const { files } = await sandbox.collect(new Map(), collectBounds());
      expect(files.map(({ path, mode }) => [path, mode])).toEqual([
        ["a/raw", "100644"],
        ["run", "100755"],
      ]);
      expect(files[0]?.content.equals(all)).toBe(true);
    }));

  it("are reported in canonical order, regardless of the order in which they were made", () =>
    inSandbox(async (sandbox) => {
      const names = ["z", "a/b", "a", "B", "ä", "a-b", "10", "9"].filter((one) => one !== "a");
      for (const path of names) await sandbox.putTar(canonicalTar([file(path, path)]));
      const { files } = await sandbox.collect(new Map(), collectBounds());
      expect(files.map(({ path }) => path)).toEqual([...names].sort(comparePaths));
    }));

  it("are compared with the baseline: changes, modes and deletions", () =>
    inSandbox(async (sandbox) => {
      await sandbox.putTar(canonicalTar([file("same", "s"), file("old", "o"), file("gone", "g")]));
      const { files: before } = await sandbox.collect(new Map(), collectBounds());
      const baseline = new Map(
        before.map(({ path, mode, sha256, content }) => [
          path,
          { kind: "file" as const, mode, sha256, size: content.length },
        ]),
      );
      await sandbox.run(shell("echo n > old; rm gone; mkdir d; echo x > d/new; chmod +x same"));
      const { files, deletions } = await sandbox.collect(baseline, collectBounds());
      expect(files.map(({ path, mode }) => [path, mode])).toEqual([
        ["d/new", "100644"],
        ["old", "100644"],
        ["same", "100755"],
      ]);
      expect(deletions).toEqual(["gone"]);
    }));

  it("are removed, and a missing one is no error", () =>
    inSandbox(async (sandbox) => {
      await sandbox.putTar(canonicalTar([file("d/a", "a"), file("b", "b")]));
      await sandbox.remove(["d", "nothing"]);
      expect(out(await sandbox.run(shell("ls")))).toBe("b\n");
    }));

  it("arrive whole, even a thousand of them", () =>
    inSandbox(async (sandbox) => {
      const many = Array.from({ length: 1000 }, (_, i) => file(`d${i % 10}/f${i}`, `${i}\n`));
      await sandbox.putTar(canonicalTar(many));
      expect(out(await sandbox.run(shell("cat d*/f* | sort -n | tail -1; find . -type f | wc -l")))).toMatch(
        /^999\n\s*1000\n$/,
      );
    }));

  for (const [what, make, rule] of [
    ["a symbolic link", "ln -s /etc/passwd l", "type-symlink"],
    ["a hard link", "echo x > a; ln a b", "type-hardlink"],
    ["a named pipe", "mkfifo p", "type-fifo"],
    ["a name with a line break", "printf x > 'a\nb'", "path-control"],
    ["a name that is .git somewhere", "mkdir .GIT; echo x > .GIT/config", "path-git"],
  ] as const) {
    it(`are refused by a named rule, and the sandbox lives on: ${what}`, () =>
      inSandbox(async (sandbox) => {
        await sandbox.run(shell(make));
        const refused = await sandbox.collect(new Map(), collectBounds()).catch((error: unknown) => error);
        expect(refused).toBeInstanceOf(Refusal);
        expect((refused as Refusal).rule).toBe(rule);
        expect(out(await sandbox.run(shell("echo here")))).toBe("here\n");
      }));
  }

  it("of the sandbox's own .git never come out", () =>
    inSandbox(async (sandbox) => {
      await sandbox.run(shell("mkdir .git; echo x > .git/config; echo y > y"));
      const { files } = await sandbox.collect(new Map(), collectBounds());
      expect(files.map(({ path }) => path)).toEqual(["y"]);
    }));

  it("are bounded in number and in bytes", () =>
    inSandbox(async (sandbox) => {
      await sandbox.run(shell("for i in 1 2 3; do head -c 1000 /dev/zero > f$i; done"));
      const refusal = (bounds: object) =>
        sandbox.collect(new Map(), { ...collectBounds(), ...bounds }).catch((error: unknown) => error);
      expect(await refusal({ maxFiles: 2 })).toMatchObject({ rule: "too-many-files" });
      expect(await refusal({ maxBytes: 2500 })).toMatchObject({ rule: "too-many-bytes" });
      expect(await refusal({ maxEntries: 2 })).toMatchObject({ rule: "too-many-entries" });
    }));
}

function commandTests(inSandbox: InSandbox): void {
  it("get their arguments, directory and environment, and no other variable", () =>
    inSandbox(async (sandbox) => {
      await sandbox.run(shell("mkdir -p 'a dir'"));
      const exit = await sandbox.run({
        ...shell(""),
        argv: [
          "sh",
          "-c",
          'pwd; printf "%s|" "$@"; env | cut -d= -f1 | sort | tr "\\n" " "',
          "sh",
          "a b",
          "$x",
          "",
        ],
        cwd: "/workspace/a dir",
        env: { ...ENV, MINE: "it's\nmine" },
      });
      const [directory, words, ...rest] = out(exit).split(/\n|(?<=\|)(?=[A-Z_])/);
      expect([directory, words]).toEqual(["/workspace/a dir", "a b|$x||"]);
      const names = rest
        .join(" ")
        .split(" ")
        .filter((one) => /^[A-Z_]+$/.test(one) && !["_", "OLDPWD", "SHLVL"].includes(one)); // set by the shell itself
      expect(names.sort()).toEqual(["HOME", "LANG", "MINE", "PATH", "PWD"]);
    }));

  it("report their exit code, and a death by signal as a shell does", () =>
    inSandbox(async (sandbox) => {
      expect(await sandbox.run(shell("exit 7"))).toMatchObject({ exitCode: 7, signal: 0 });
      expect(await sandbox.run(shell("kill -TERM $$"))).toMatchObject(killedBy(15, sandbox));
      expect(await sandbox.run(shell("kill -KILL $$"))).toMatchObject(killedBy(9, sandbox));
    }));

  it("that cannot be run end with the exit code of a shell", () =>
    inSandbox(async (sandbox) => {
      expect((await sandbox.run({ ...shell(""), argv: ["no-such-program"] })).exitCode).toBe(127);
      expect((await sandbox.run({ ...shell(""), cwd: "/workspace/none" })).exitCode).toBe(126);
      await sandbox.run(shell("echo x > plain"));
      expect((await sandbox.run({ ...shell(""), argv: ["./plain"] })).exitCode).toBe(126);
    }));

  it("read their input to its end, binary and large", () =>
    inSandbox(async (sandbox) => {
      const bytes = Buffer.alloc(5 * MiB, "\0\xff\n", "latin1");
      expect(out(await sandbox.run(shell("wc -c", { stdin: bytes }))).trim()).toBe(String(bytes.length));
      expect(out(await sandbox.run(shell("cat")))).toBe("");
      expect(out(await sandbox.run(shell("head -c 3; exit 0", { stdin: bytes })))).toHaveLength(3);
    }));

  it("keep stdout and stderr apart, byte by byte", () =>
    inSandbox(async (sandbox) => {
      const exit = await sandbox.run(shell("printf 'o\\000\\377'; printf 'e\\200' >&2"));
      expect([exit.stdout.bytes, exit.stderr.bytes]).toEqual([
        Buffer.from([0x6f, 0, 255]),
        Buffer.from([0x65, 0x80]),
      ]);
    }));

  it("may print more than is kept: head and tail stay, every byte is counted", () =>
    inSandbox(async (sandbox) => {
      const exit = await sandbox.run(shell("seq 1 500000", { keepBytes: 2000 }));
      expect(exit.stdout).toMatchObject({ produced: 3_388_895, truncated: true });
      expect(out(exit)).toMatch(/^1\n2\n3\n[^]*bytes not kept[^]*499999\n500000\n$/);
    }));

  it("are stopped when they print without end", () =>
    inSandbox(async (sandbox) => {
      const died = await sandbox.run(shell("yes", { maxOutputBytes: MiB })).catch((error: unknown) => error);
      expect(died).toMatchObject({ death: { kind: "output" } });
    }));

  it("sandbox-runner/S10: send output while they run, and wait for a slow listener", () =>
    inSandbox(async (sandbox) => {
      let open = 0;
      let most = 0;
      const exit = await sandbox.run(
        shell("head -c 3000000 /dev/zero", {
          onOutput: async () => {
            open += 1;
            most = Math.max(most, open);
            await new Promise((resolve) => setImmediate(resolve));
            open -= 1;
          },
        }),
      );
      expect(exit.stdout.produced).toBe(3_000_000);
      expect(most).toBeLessThan(32);
    }));

  it("sandbox-runner/S3: leave their files for the next command, and no process", () =>
    inSandbox(async (sandbox) => {
      await sandbox.run(shell("echo kept > state; sleep 300 & sleep 300 & echo started"));
      const script =
        'cat state; for p in /proc/[0-9]*; do tr "\\0" " " < $p/cmdline; echo; done | grep -c "^sleep"';
      expect(out(await sandbox.run(shell(script)))).toBe("kept\n0\n");
    }));
}

function shellTests(inSandbox: InSandbox): void {
  it("have the image's own shell as SHELL where it is left open", () =>
    inSandbox(async (sandbox) => {
      const asked = { env: { ...ENV, SHELL: "" } };
      const exit = await sandbox.run(shell('test -x "$SHELL" && basename "$SHELL"', asked));
      expect(out(exit)).toMatch(/^(bash|sh)\n$/);
    }));
}

function endTests(inSandbox: InSandbox, subject: ConformanceSubject): void {
  it("comes at its time limit and takes all its processes, even if they ignore TERM", () =>
    inSandbox(async (sandbox) => {
      const since = performance.now();
      const script = "echo begun; trap '' TERM; (setsid sleep 300 &) ; while :; do :; done";
      const died = await sandbox.run(shell(script, { timeoutMs: 2_000 })).catch((error: unknown) => error);
      expect(died).toBeInstanceOf(SandboxDied);
      expect((died as SandboxDied).death.kind).toBe("timeout");
      expect((died as SandboxDied).partial?.stdout.tail).toBe(sandbox.sealed ? "begun\n" : "");
      await sandbox.gone;
      expect(performance.now() - since).toBeLessThan(2_000 + GONE_MS);
    }));

  it("does not come with the end of one command on request: the sandbox and its files live on", () =>
    inSandbox(async (sandbox) => {
      const slow = shell("echo begun > mark; trap '' TERM; sleep 300", {
        timeoutMs: 2_000,
        timeoutEnds: "command",
      });
      const late = await sandbox.run(slow).catch((error: unknown) => error);
      if (!sandbox.sealed) return expect(late).toMatchObject({ death: { kind: "timeout" } });
      expect(late).toMatchObject({ timedOut: true, signal: 9 });
      const stop = new AbortController();
      const told = shell("echo now; sleep 300", { signal: stop.signal, onOutput: () => stop.abort() });
      expect(await sandbox.run(told)).toMatchObject({ timedOut: false, signal: 9 });
      expect(out(await sandbox.run(shell("cat mark")))).toBe("begun\n");
    }));

  it("sandbox-runner/S3: comes on request, during any command, and is final", async () => {
    const sandbox = await subject.provider().start(await subject.order());
    const running = sandbox.run(shell("while :; do :; done")).catch((error: unknown) => error);
    await sandbox.destroy({ kind: "canceled", reason: "enough" });
    expect(await running).toMatchObject({ death: { kind: "canceled", reason: "enough" } });
    await sandbox.gone;
    await expect(sandbox.run(shell("true"))).rejects.toBeInstanceOf(SandboxDied);
    await sandbox.destroy({ kind: "canceled", reason: "again" });
  });

  it("comes when its memory runs out, distinguished from a crash, where the provider says that it limits memory", () =>
    inSandbox(async (sandbox) => {
      const hungry = shell("head -c 400m /dev/zero | tail > /dev/null");
      const exit = await sandbox.run(hungry).catch((error: unknown) => error as SandboxDied);
      if (!subject.provider().enforces.memory) expect(exit).toMatchObject({ oomKills: 0 });
      else if (exit instanceof SandboxDied) expect(exit.death.kind).toBe("oom");
      else expect(exit.oomKills).toBeGreaterThan(0);
    }));

  it("does not come with too many processes: fork fails inside, where the provider says that it limits them", () =>
    inSandbox(async (sandbox) => {
      const many = "i=0; while [ $i -lt 200 ]; do sleep 5 & i=$((i+1)); done 2>/dev/null; exit 1";
      const exit = await sandbox.run(shell(many));
      expect(exit.pidsRefused > 0).toBe(subject.provider().enforces.processes);
    }));

  it("does not come with a full disk: writing fails inside, at the workspace's size", () =>
    inSandbox(
      async (sandbox) => {
        const exit = await sandbox.run(shell("head -c 30000000 /dev/zero > big; wc -c < big"));
        expect(Number(out(exit))).toBeLessThanOrEqual(8 * MiB);
        expect(exit.stderr.tail).toMatch(/space|I\/O error/);
      },
      { workspaceBytes: 8 * MiB },
    ));
}

function isolationTests(inSandbox: InSandbox): void {
  it("each sandbox has its own files, at eight at once", async () => {
    const said = await Promise.all(
      Array.from({ length: 8 }, (_, i) =>
        inSandbox(async (sandbox) => {
          await sandbox.run(shell(`echo ${i} > mine; echo ${i} > /tmp/mine`));
          return out(await sandbox.run(shell("cat mine /tmp/mine; ls | wc -l")));
        }),
      ),
    );
    expect(said.map((text) => text.replaceAll(" ", ""))).toEqual(said.map((_, i) => `${i}\n${i}\n1\n`));
  });

  it("nothing outside /workspace and /tmp can be written", () =>
    inSandbox(async (sandbox) => {
      const places = "/ /etc /usr /usr/bin /var /root /home /proc/sys/kernel /sys";
      const script = `for d in ${places}; do (echo x > $d/.probe) 2>/dev/null && echo "wrote $d"; done; true`;
      expect(out(await sandbox.run(shell(script)))).toBe("");
    }));

  it("the code runs as a user of no other program, without a capability, and can gain none", () =>
    inSandbox(async (sandbox) => {
      const status = out(
        await sandbox.run(shell("id -u; grep -E '^(CapEff|CapPrm|NoNewPrivs)' /proc/self/status")),
      );
      expect(status).toMatch(/^(60[6-9]\d\d|61[01]\d\d|65532)\n/);
      expect(status).toMatch(/CapEff:\s*0+\n/);
      expect(status).toMatch(/CapPrm:\s*0+\n/);
      expect(status).toMatch(/NoNewPrivs:\s*1/);
    }));

  it("there is no network but loopback", () =>
    inSandbox(async (sandbox) => {
      const devices = out(await sandbox.run(shell("tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '")));
      expect(devices.split("\n").filter((one) => one !== "" && one !== "lo")).toEqual([]);
    }));
}

async function settled(ask: () => Promise<readonly string[]>): Promise<readonly string[]> {
  const endsAt = performance.now() + GONE_MS;
  for (;;) {
    const left = await ask();
    if (left.length === 0 || performance.now() > endsAt) return left;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
