/** The lock of `antiphon dev`: many processes at once, over whatever an earlier owner left behind. */
import { fork, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { lockHolder, takeLock } from "../../../cli/src/dev/state-lock.ts";
import type { LockAnswer, LockRequest } from "../../support/lock-contender.ts";
import { cleanUpRepos, tempDir } from "../../support/repo.ts";
import { eventually } from "../../support/nats.ts";
import { builtProgram } from "../../support/built-program.ts";
import { patient } from "../../support/patience.ts";

const PROGRAM = await builtProgram(new URL("../../support/lock-contender.ts", import.meta.url));
const CONTENDERS = 8;
const ROUNDS = 20;

class Contender {
  readonly child: ChildProcess;

  constructor() {
    this.child = fork(PROGRAM, { execArgv: [] });
    contenders.add(this);
  }

  static async ready(): Promise<Contender> {
    const one = new Contender();
    await once(one.child, "message");
    return one;
  }

  async ask(request: LockRequest): Promise<LockAnswer> {
    const answered = once(this.child, "message");
    this.child.send(request);
    return ((await answered) as [LockAnswer])[0];
  }

  async end(signal: NodeJS.Signals): Promise<void> {
    const exited = once(this.child, "exit");
    this.child.kill(signal);
    await exited;
    contenders.delete(this);
  }
}

const contenders = new Set<Contender>();

/** Then a process that is refused before the holder has written its name is told the wrong one. */
const MISLEADING = "the name of a process that runs and does not hold it";

/** What an earlier owner can leave: the state of the lock before a round, given the holder of the last one. */
const LEFT: Readonly<Record<string, (file: string, last: Contender) => Promise<void>>> = {
  "a clean stop": async (_file, last) => void (await last.ask({ do: "release" })),
  "an owner that was killed": (_file, last) => last.end("SIGKILL"),
  "a pid that another process has now": async (file, last) => {
    await last.end("SIGKILL");
    writeFileSync(file, JSON.stringify({ pid: process.pid, startedAt: "another boot 1" }));
  },
  [MISLEADING]: async (file, last) => {
    const named = readFileSync(file, "utf8");
    await last.ask({ do: "release" });
    writeFileSync(file, named);
  },
  "an empty file": async (file, last) => {
    await last.end("SIGKILL");
    writeFileSync(file, "");
  },
  "a torn file": async (file, last) => {
    const named = readFileSync(file, "utf8");
    await last.end("SIGKILL");
    writeFileSync(file, named.slice(0, named.length / 2));
  },
};

afterEach(async () => {
  await Promise.all([...contenders].map((one) => one.end("SIGKILL")));
  cleanUpRepos();
});

describe("the lock of a state directory", () => {
  it(
    `cli/C4: of ${CONTENDERS} at once exactly one holds it and the others name it, in ${ROUNDS} rounds`,
    { timeout: patient(120_000) },
    async () => {
      const file = join(tempDir(), "dev/lock");
      const left = Object.entries(LEFT);
      let last: Contender | null = null;
      for (let round = 0; round < ROUNDS; round += 1) {
        const [name, leave] = left[round % left.length]!;
        if (last !== null) await leave(file, last);
        while (contenders.size < CONTENDERS) await Contender.ready();
        const all = [...contenders];
        const answers = await Promise.all(all.map((one) => one.ask({ do: "take", path: file })));
        const holders = all.filter((_, index) => answers[index]?.kind === "held");
        expect(holders, `round ${round}, after ${name}`).toHaveLength(1);
        last = holders[0]!;
        const by = answers.filter((one) => one.kind === "taken").map((one) => one.by);
        if (name !== MISLEADING)
          expect(new Set(by), `round ${round}, after ${name}`).toEqual(new Set([last.child.pid]));
        expect(lockHolder(file)?.pid).toBe(last.child.pid);
      }
    },
  );

  it("cli/C4: an owner that has not written its name yet is waited for, and holds it", async () => {
    const file = join(tempDir(), "lock");
    const holder = await Contender.ready();
    await holder.ask({ do: "take", path: file });
    writeFileSync(file, "");
    expect(await takeLock(file, { patienceMs: 0 })).toEqual({ kind: "taken", by: null });
    expect(await takeLock(file, { patienceMs: 200 })).toEqual({ kind: "taken", by: null });
    await holder.end("SIGKILL");
    expect(await takeLock(file, { patienceMs: 0 })).toMatchObject({ kind: "held" });
  });

  it("names no process that has ended and is not collected, as under the first process of many containers", async () => {
    const file = join(tempDir(), "lock");
    // `sleep` takes the shell's place and collects no child of it.
    const parent = spawn("sh", ["-c", "sleep 60 & echo $!; exec sleep 60"], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    try {
      const [said] = (await once(parent.stdout, "data")) as [Buffer];
      const pid = Number(said.toString());
      const stat = (): string[] => {
        const text = readFileSync(`/proc/${pid}/stat`, "utf8");
        return text.slice(text.lastIndexOf(")") + 2).split(" ");
      };
      const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
      writeFileSync(file, JSON.stringify({ pid, startedAt: `${boot} ${stat()[19]}` }));
      expect(lockHolder(file)?.pid).toBe(pid);
      await eventually(
        "the shell is gone",
        () => readFileSync(`/proc/${parent.pid}/comm`, "utf8") === "sleep\n",
      );
      process.kill(pid, "SIGKILL");
      await eventually("it has ended", () => stat()[0] === "Z");
      expect(lockHolder(file)).toBeNull();
    } finally {
      parent.kill("SIGKILL");
    }
  });

  it("is taken by perl where there is no flock, and refused with a remedy where there is neither", async () => {
    const file = join(tempDir(), "lock");
    const bin = tempDir();
    const only = { patienceMs: 0, searchPath: bin };
    await expect(takeLock(file, only)).rejects.toMatchObject({ code: "ANT_DEV_LOCK_FAILED" });
    // The program finds the real perl by its own path.
    writeFileSync(join(bin, "perl"), '#!/bin/sh\nPATH=/usr/bin:/bin exec perl "$@"\n', { mode: 0o755 });
    const held = await takeLock(file, only);
    expect(await takeLock(file, only)).toMatchObject({ kind: "taken", by: { pid: process.pid } });
    if (held.kind === "held") held.release();
    const again = await takeLock(file, only);
    expect(again).toMatchObject({ kind: "held" });
    if (again.kind === "held") again.release();
  });

  it("is refused where the file cannot be opened", async () => {
    const dir = join(tempDir(), "lock");
    mkdirSync(dir);
    await expect(takeLock(dir, { patienceMs: 0 })).rejects.toMatchObject({ code: "EISDIR" });
    const open = openSync("/dev/null", "r"); // Nothing leaks: the next number is the one it had.
    closeSync(open);
    await expect(takeLock(dir, { patienceMs: 0 })).rejects.toMatchObject({ code: "EISDIR" });
    const again = openSync("/dev/null", "r");
    closeSync(again);
    expect(again).toBe(open);
  });
});
