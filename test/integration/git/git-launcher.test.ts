import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { runProcess, startLauncher } from "../../../git/src/process/launcher.ts";
import { runHere, type ProcessEnd, type ProcessRun } from "../../../git/src/process/process-run.ts";
import { tempDir } from "../../support/repo.ts";
import { builtProgram } from "../../support/built-program.ts";

const path = process.env["PATH"];
afterEach(() => {
  process.env["PATH"] = path;
});

interface Asked {
  readonly stdin?: Buffer | string | null;
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

class Heard {
  readonly out: Buffer[] = [];
  readonly err: Buffer[] = [];
  readonly run: ProcessRun;

  constructor(
    argv: readonly string[],
    { stdin = null, cwd = "/", env = { PATH: path ?? "" } }: Asked = {},
    start = runProcess,
  ) {
    const [file = "", ...args] = argv;
    const hear = (kept: Buffer[]) => (piece: Buffer) => void kept.push(piece);
    const streams = { onOutput: hear(this.out), onError: hear(this.err) };
    this.run = start({ file, args, cwd, env, stdin, ...streams });
  }

  async whole(): Promise<{ end: ProcessEnd; out: string; err: string }> {
    const end = await this.run.ended;
    const text = (pieces: readonly Buffer[]) => Buffer.concat(pieces).toString("latin1");
    return { end, out: text(this.out), err: text(this.err) };
  }
}

const sh = (script: string, asked?: Asked, start?: typeof runHere) =>
  new Heard(["sh", "-c", script], asked, start).whole();

/** The children of this process that run perl. */
function launchers(): number[] {
  const tasks = readdirSync("/proc/self/task");
  const children = tasks.flatMap((task) =>
    readFileSync(`/proc/self/task/${task}/children`, "utf8").trim().split(" "),
  );
  return children
    .filter((pid) => pid !== "" && readFileSync(`/proc/${pid}/comm`, "utf8").startsWith("perl"))
    .map(Number);
}

it("is refused without perl, leaves nothing behind, and processes are started all the same", async () => {
  const places = (): string[] => readdirSync("/tmp").filter((name) => name.startsWith("antiphon-launcher-"));
  const before = places();
  process.env["PATH"] = tempDir();
  await expect(startLauncher()).rejects.toMatchObject({ code: "ENOENT" });
  await expect.poll(() => places().filter((name) => !before.includes(name))).toEqual([]);
  expect(await sh("echo here")).toMatchObject({ out: "here\n" });
});

describe("a process of the launcher", () => {
  beforeAll(() => startLauncher());

  it.each<[string, string, Asked]>([
    ["ends with a code", "echo out; echo err >&2; exit 3", {}],
    ["is ended by a signal", "kill -TERM $$", {}],
    ["has nothing to read", "cat; echo over", {}],
    ["has an empty input", "cat; echo over", { stdin: "" }],
    ["writes more than a socket holds", "head -c 3000000 /dev/zero | tr '\\0' x", {}],
    ["reads more than a socket holds", "wc -c", { stdin: Buffer.alloc(3_000_000, 255) }],
    ["does not read its input", "exec <&-; head -c 200000 /dev/zero", { stdin: Buffer.alloc(3_000_000) }],
    ["closes its output early", "exec >&- 2>&-; exit 7", {}],
    ["writes bytes that are no text", "printf '\\377\\000\\376'", {}],
    [
      "has its directory and its variables, and no others",
      "pwd; env | sort",
      { cwd: "/usr", env: { A: "b=c", E: "" } },
    ],
    ["is interrupted, and not deaf to it", "kill -INT $$; echo deaf", {}],
  ])("%s as one that is started here", async (_what, script, asked) => {
    expect(await sh(script, asked)).toEqual(await sh(script, asked, runHere));
  });

  it.each<[string, readonly string[], Asked, string]>([
    ["without its program", ["nothing-is-called-so"], {}, "ENOENT"],
    ["without its directory", ["true"], { cwd: "/nonexistent" }, "ENOENT"],
    ["without the right to run it", ["/etc/passwd"], {}, "EACCES"],
  ])("fails %s by the same name", async (_what, argv, asked, code) => {
    await expect(new Heard(argv, asked).run.ended).rejects.toMatchObject({ code });
    await expect(new Heard(argv, asked, runHere).run.ended).rejects.toMatchObject({ code });
  });

  it("is refused with a NUL in its arguments, which would be two", () => {
    expect(() => new Heard(["echo", "a\0b"])).toThrow("NUL");
  });

  it("is killed when it is told to, and its streams close", async () => {
    const { run } = new Heard(["sleep", "60"]);
    run.kill();
    expect(await run.ended).toEqual({ code: null, signal: "SIGKILL" });
  });

  it("is one of two hundred at a time, each with its own words", async () => {
    const all = await Promise.all(
      Array.from({ length: 200 }, (_, i) => sh(`cat; echo ${i} >&2; exit ${i % 7}`, { stdin: `in ${i}` })),
    );
    expect(all).toEqual(
      all.map((_, i) => ({ end: { code: i % 7, signal: null }, out: `in ${i}`, err: `${i}\n` })),
    );
  });

  it("inherits nothing from the service: no variable, no open file but its streams", async () => {
    const [pid] = launchers();
    const variables = readFileSync(`/proc/${pid}/environ`, "latin1").split("\0").filter(Boolean);
    expect(variables.map((variable) => variable.split("=")[0])).toEqual(["PATH"]);
    const { out } = await sh("ls /proc/self/fd");
    expect(out).toBe((await sh("ls /proc/self/fd", {}, runHere)).out);
  });

  it("goes on without its launcher, and counts as interrupted when it has ended", async () => {
    const place = tempDir();
    const lost = new Heard(["sh", "-c", "echo begun; while [ ! -e go ]; do sleep 0.02; done; : > done"], {
      cwd: place,
    });
    await expect.poll(() => lost.out.length).toBe(1);
    const [pid = 0] = launchers();
    process.kill(pid, "SIGKILL");
    await expect.poll(() => launchers()).toEqual([]);
    expect(await sh("echo here > go", { cwd: place })).toMatchObject({ end: { code: 0 } });
    expect(await lost.run.ended).toEqual({ code: null, signal: "the end of its launcher" });
    expect(existsSync(`${place}/done`)).toBe(true);
    await expect.poll(() => launchers()).toHaveLength(1);
    expect(await sh("echo again")).toMatchObject({ out: "again\n" });
  });
});

it("its launcher ends with the service, also one that is killed, and removes its socket", async () => {
  const program = await builtProgram(new URL("../../support/launching-process.ts", import.meta.url));
  const temp = tempDir();
  const child = spawn(process.execPath, [program], {
    env: { ...process.env, TMPDIR: temp },
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(child.stdout, "data");
  const places = (): string[] => readdirSync(temp).filter((name) => name.startsWith("antiphon-launcher-"));
  expect(places()).toHaveLength(1);
  child.kill("SIGKILL");
  await once(child, "exit");
  await expect.poll(places).toEqual([]);
});
