/** `antiphon dev` and the command's own start, as processes. */
import { execFileSync, spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { DevEvent } from "../../../cli/src/dev/events.ts";
import { lockOf } from "../../../cli/src/dev/instance.ts";
import { takeLock } from "../../../cli/src/dev/state-lock.ts";
import { eventually } from "../../support/nats.ts";
import { patient } from "../../support/patience.ts";
import { cleanUpRepos, tempDir } from "../../support/repo.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const BIN = join(ROOT, "bin/antiphon.mjs");

class Program {
  readonly child: ChildProcess;
  stdout = "";
  stderr = "";

  constructor(args: readonly string[], env: Record<string, string> = {}, bin = BIN) {
    this.child = spawn(process.execPath, [bin, ...args], {
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.child.stdout?.setEncoding("utf8").on("data", (text: string) => (this.stdout += text));
    this.child.stderr?.setEncoding("utf8").on("data", (text: string) => (this.stderr += text));
  }

  get events(): Record<string, unknown>[] {
    const lines = this.stdout.split("\n").slice(0, -1);
    return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  }

  event(name: DevEvent["event"]): Record<string, unknown> | undefined {
    return this.events.findLast((event) => event.event === name);
  }

  get pids(): Record<string, number> {
    return (this.event("ready")?.pids ?? {}) as Record<string, number>;
  }

  async ended(): Promise<number | null> {
    await eventually(
      "the process ends",
      () => this.child.exitCode !== null || this.child.signalCode !== null,
      40_000,
    );
    return this.child.exitCode;
  }
}

const running: Program[] = [];
afterEach(async () => {
  for (const program of running.splice(0)) await stopped(program);
});
afterAll(() => cleanUpRepos());

function run(args: readonly string[], env: Record<string, string> = {}, bin = BIN): Program {
  return new Program(args, env, bin);
}

async function started(
  dir = tempDir("antiphon-dev-"),
  ...more: string[]
): Promise<Program & { dir: string }> {
  const program = run(["dev", "--json", "--port", "0", "--nats-port", "0", "--state-dir", dir, ...more]);
  await eventually(
    "dev is ready",
    () => program.event("ready") !== undefined || program.child.exitCode !== null,
    40_000,
  );
  expect(program.stderr).toBe("");
  return Object.assign(program, { dir });
}

async function stopped(program: Program): Promise<void> {
  program.child.kill("SIGTERM");
  await program.ended();
}

/** A zombie that its parent has not reaped yet counts as dead. The process may end between any two looks. */
function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ESRCH") return false;
    throw error;
  }
}

/** One after the other on one stack, which has no faults of its own: a start costs three seconds of the processor. */
describe("antiphon dev, from its start to its end", () => {
  let program: Program & { dir: string };
  const services = async (): Promise<number> => {
    const answer = await fetch(`${String(program.event("ready")?.gateway)}/services`);
    return answer.ok ? ((await answer.json()) as { services: unknown[] }).services.length : 0;
  };

  beforeAll(async () => {
    program = await started(undefined, "--associates", "2");
  });
  afterAll(() => stopped(program));

  it("starts every service on free loopback ports and reports the addresses", async () => {
    expect(program.event("ready")).toMatchObject({
      gateway: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/) as string,
      nats: expect.stringMatching(/^nats:\/\/127\.0\.0\.1:\d+$/) as string,
    });
    expect(Object.keys(program.pids)).toEqual([
      "gateway",
      "router",
      "director",
      "associate-1",
      "associate-2",
      "sandbox-runner",
      "egress",
      "nats-server",
    ]);
    await eventually("every service answers", async () => (await services()) === 7);
  });

  it("refuses a directory in use, and does not disturb its owner", async () => {
    const second = run(["dev", "--json", "--port", "0", "--nats-port", "0", "--state-dir", program.dir]);
    expect(await second.ended()).toBe(2);
    expect(JSON.parse(second.stdout)).toMatchObject({ error: { code: "ANT_DEV_ALREADY_RUNNING" } });
    expect(second.stderr).toMatch(/^error ANT_DEV_ALREADY_RUNNING: .*\nremedy: .*--state-dir/);
    expect((await fetch(`${String(program.event("ready")?.gateway)}/readyz`)).status).toBe(200);
    expect(Object.values(program.pids).every(isAlive)).toBe(true);
  });

  it.each(["router", "nats-server"])("restarts a killed %s and reports it", async (name) => {
    const of = (kind: DevEvent["event"]): Record<string, unknown>[] =>
      program.events.filter(({ event, name: one }) => event === kind && one === name);
    process.kill(Number(of("child_started").at(-1)?.["pid"]), "SIGKILL");
    await eventually("the end is reported", () => of("child_exited").length === 1);
    await eventually("it is started again", () => of("child_started").length === 2);
    await eventually("all are there again", async () => (await services()) === 7);
  });

  it("cli/C2: stops in order and leaves no process behind", async () => {
    const pids = program.events.flatMap(({ event, pid }) => (event === "child_started" ? [Number(pid)] : []));
    expect(pids.length).toBeGreaterThanOrEqual(10); // Two of them were started again.
    program.child.kill("SIGINT");
    expect(await program.ended()).toBe(0);
    expect(pids.filter(isAlive)).toEqual([]);
    const told = program.events.map(({ event }) => event).filter((event) => event !== "child_log");
    expect(told.slice(-2)).toEqual(["draining", "stopped"]);
    expect(readdirSync(program.dir).sort()).toEqual([
      "director-key.pem",
      "egress.json",
      "lock",
      "logs",
      "nats",
      "nats-users",
      "runner-key.pem",
      "trusted-keys.json",
      "trusted-runners.json",
    ]);
  });
});

/** Each goes on in the directory of the one before. */
describe("antiphon dev that is killed", () => {
  let program: Program & { dir: string };

  beforeAll(async () => {
    program = await started();
  });
  afterAll(() => stopped(program));

  it("cli/C2: its children stop when it is killed", async () => {
    const pids = Object.values(program.pids);
    program.child.kill("SIGKILL");
    await eventually("the children are gone", () => !pids.some(isAlive), 15_000);
    program = await started(program.dir); // And its directory is free for the next one.
  });

  it("cli/C4: the next one starts only when the nats-server of a killed one has closed the store", async () => {
    const { "nats-server": nats = 0, ...services } = program.pids;
    process.kill(nats, "SIGSTOP"); // It cannot end yet.
    try {
      program.child.kill("SIGKILL");
      await eventually("the services are gone", () => !Object.values(services).some(isAlive), 15_000);
      expect(await takeLock(lockOf(program.dir), { patienceMs: 0 })).toEqual({ kind: "taken", by: null });
    } finally {
      process.kill(nats, "SIGCONT");
    }
    program = await started(program.dir);
    expect(isAlive(nats)).toBe(false);
  });
});

describe("antiphon dev that cannot start", () => {
  it("names a port that is taken, and the option to choose another", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    const { port } = server.address() as AddressInfo;
    const program = run([
      "dev",
      "--port",
      String(port),
      "--nats-port",
      "0",
      "--state-dir",
      tempDir("antiphon-dev-"),
    ]);
    expect(await program.ended()).toBe(2);
    expect(program.stderr).toBe(
      `error ANT_DEV_PORT_TAKEN: port ${port} for the gateway is taken by another program\nremedy: stop it, or choose another port: antiphon dev --port ${port + 1} (0 picks a free one)\n`,
    );
    server.close();
  });

  it.each([
    ["no nats-server", null, "ANT_NATS_BINARY_MISSING"],
    ["an old one", "2.10.9", "ANT_NATS_TOO_OLD"],
  ])("says what to do with %s", async (_what, version, code) => {
    const dir = tempDir("antiphon-dev-");
    const binary = join(dir, "nats-server");
    if (version !== null) {
      writeFileSync(binary, `#!/bin/sh\necho "nats-server: v${version}"\n`);
      chmodSync(binary, 0o755);
    }
    const env = { ANTIPHON_STATE_DIR: dir, PATH: dir, NATS_SERVER_BIN: "" };
    const program = run(["dev", "--port", "0", "--nats-port", "0", "--state-dir", join(dir, "dev")], env);
    expect(await program.ended()).toBe(4);
    expect(program.stderr).toContain(`error ${code}: `);
    expect(program.stderr).toContain("antiphon setup");
  });

  it("ends with the code and the remedy of a service that cannot start, also in the background", async () => {
    const dir = tempDir("antiphon-dev-");
    const words = ["dev", "--background", "--port", "0", "--nats-port", "0", "--state-dir", dir];
    const program = run(words, { ANTIPHON_TOKEN: "short" });
    expect(await program.ended()).toBe(2);
    const told = "gateway: ANTIPHON_TOKEN has 5 characters; at least .*\\nremedy: Set ANTIPHON_TOKEN";
    expect(program.stderr).toMatch(new RegExp(`^error ANT_GATEWAY_TOKEN_WEAK: ${told}`));
    // It is not started once more, because the setting stays as it is.
    const log = readFileSync(join(dir, "logs/gateway.log"), "utf8");
    expect(log.match(/"level":"fatal"/g)).toHaveLength(1);
  });
});

/** A separate checkout, whose sources a test may change. */
function checkout(): string {
  const copy = tempDir("antiphon-copy-");
  for (const dir of [
    "bin",
    "scripts",
    "contracts",
    "run",
    "git",
    "runtime",
    "services",
    "cli",
    "web",
    "package.json",
  ]) {
    cpSync(join(ROOT, dir), join(copy, dir), {
      recursive: true,
      filter: (path) => !path.endsWith("node_modules"),
    });
  }
  for (const modules of ["node_modules", "web/node_modules"])
    if (existsSync(join(ROOT, modules))) symlinkSync(join(ROOT, modules), join(copy, modules));
  return copy;
}

describe("antiphon dev --watch", () => {
  it(
    "restarts only the service whose source changed, and keeps running if a source does not build",
    { timeout: patient(180_000) },
    async () => {
      const copy = checkout();
      const env = { ANTIPHON_STATE_DIR: process.env["ANTIPHON_STATE_DIR"] ?? join(ROOT, ".antiphon") };
      const args = ["dev", "--watch", "--json", "--port", "0", "--nats-port", "0"];
      const dir = tempDir("antiphon-dev-");
      const program = run([...args, "--state-dir", dir], env, join(copy, "bin/antiphon.mjs"));
      running.push(program);
      await eventually("dev is ready", () => program.event("ready") !== undefined, 40_000);
      const source = join(copy, "services/router/src/main.ts");
      const text = readFileSync(source, "utf8");

      writeFileSync(source, `${text}\nexport const = ;\n`);
      await eventually("the build fails", () => program.event("build_failed") !== undefined, 20_000);
      expect(String(program.event("build_failed")?.message)).toContain("services/router/src/main.ts");
      expect(Object.values(program.pids).every(isAlive)).toBe(true);

      const line = text.split("\n").length + 1;
      writeFileSync(source, `${text}\nconsole.error(new Error("as the new source says").stack);\n`);
      await eventually("the router is replaced", () => program.event("reloaded") !== undefined, 30_000);
      expect(program.event("reloaded")).toMatchObject({ names: ["router"] });
      const log = (): string => readFileSync(join(dir, "logs/router.log"), "utf8");
      await eventually("it runs the new source", () => log().includes("as the new source says"), 20_000);
      expect(log()).toContain(`services/router/src/main.ts:${line}:`);

      const gateway = String(program.event("ready")?.gateway);
      await eventually(
        "all are there again",
        async () => {
          const answer = await fetch(`${gateway}/services`);
          return ((await answer.json()) as { services: unknown[] }).services.length === 6;
        },
        patient(30_000),
      );
      const { router, ...others } = program.pids;
      expect(isAlive(Number(router))).toBe(false);
      expect(Object.values(others).every(isAlive)).toBe(true);
    },
  );
});

describe("antiphon dev on a disk that other programs have filled", () => {
  it("accepts nothing new while less than limits.storeDiskFreeBytes is free, and says where", async () => {
    const disk = tempDir("antiphon-disk-");
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=512m", "tmpfs", disk]);
    try {
      const program = await started(disk);
      running.push(program);
      const post = async (): Promise<{ status: number; text: string }> => {
        const body = JSON.stringify({ goal: "brief", inputs: {}, constraints: {} });
        const headers = { "content-type": "application/json" };
        const url = `${String(program.event("ready")?.gateway)}/intents`;
        const answer = await fetch(url, { method: "POST", headers, body });
        return { status: answer.status, text: await answer.text() };
      };
      const refused = await post();
      expect(refused.status).toBe(503);
      expect(refused.text).toContain("ANT_NATS_NO_SPACE");
      expect(refused.text).toMatch(new RegExp(`the disk of ${join(disk, "nats")} has \\d+ MiB free`));

      execFileSync("mount", ["-o", "remount,size=2g", disk]); // Nothing is written: a tmpfs takes what it holds.
      expect((await post()).status).toBe(201);
      program.child.kill("SIGTERM");
      await program.ended();
    } finally {
      execFileSync("umount", ["--lazy", disk]);
    }
  });
});

describe("the command itself", () => {
  it("names the command to run if the packages are not installed", async () => {
    const bare = tempDir("antiphon-bare-");
    for (const dir of ["bin", "scripts"]) cpSync(join(ROOT, dir), join(bare, dir), { recursive: true });
    const program = run(["--version"], {}, join(bare, "bin/antiphon.mjs"));
    expect(await program.ended()).toBe(2);
    expect(program.stderr).toMatch(/^error ANT_SETUP_MISSING: .*\nremedy: run "npm run setup" in /);
  });

  it("runs a bundle without sources or packages, as in an image", async () => {
    const image = tempDir("antiphon-image-");
    cpSync(join(ROOT, "bin"), join(image, "bin"), { recursive: true });
    const build = spawn(process.execPath, [join(ROOT, "scripts/build.mjs"), "--outdir", join(image, "dist")]);
    await new Promise((resolve) => build.once("exit", resolve));
    const program = run(["explain", "Intent"], {}, join(image, "bin/antiphon.mjs"));
    expect(await program.ended()).toBe(0);
    expect(program.stdout).toContain("Intent.v0");
  });

  it("may be started many times at once while the bundle is being built", async () => {
    const copy = checkout();
    const programs = Array.from({ length: 4 }, () => run(["--version"], {}, join(copy, "bin/antiphon.mjs")));
    const codes = await Promise.all(programs.map((program) => program.ended()));
    expect(codes, programs.map((program) => program.stderr).join("")).toEqual([0, 0, 0, 0]);
    const builds = readdirSync(join(copy, ".antiphon/build"));
    expect(builds.filter((name) => name.startsWith(".tmp"))).toEqual([]);
    expect(builds.filter((name) => /^[0-9a-f]{16}$/.test(name))).toHaveLength(1);
  });

  it("exits with 4 without a gateway, with the error as JSON on request", async () => {
    const program = run(["runs", "--json"], { ANTIPHON_GATEWAY_URL: "http://127.0.0.1:1" });
    expect(await program.ended()).toBe(4);
    expect(JSON.parse(program.stdout)).toMatchObject({ error: { code: "ANT_GATEWAY_UNREACHABLE" } });
    expect(program.stderr).toContain("remedy: ");
  });

  it("refuses to serve a gateway beyond loopback without a token", async () => {
    const program = run(["serve", "--role", "gateway"], { ANTIPHON_LISTEN: "0.0.0.0:0", ANTIPHON_TOKEN: "" });
    expect(await program.ended()).toBe(2);
    expect(program.stderr).toContain("error ANT_GATEWAY_UNSAFE_BIND: ");
  });
});
