import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { ROLES } from "@antiphon/contracts/roles";
import { connectBus, readNatsUser } from "@antiphon/runtime";
import { startNats } from "../support/nats.ts";
import { dockerContainers } from "./support/containers.ts";
import { BROKEN_CALCULATOR, CHECK, FIX, fixing, makeProject } from "./support/project.ts";
import { ANTIPHON, ROOT, eventually, exitOf, run, start } from "./support/program.ts";
import { startStack } from "./support/stack.ts";

const scratch = mkdtempSync(join(tmpdir(), "antiphon-life-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

describe("antiphon dev", () => {
  test("is ready within 10 s beside other tests, and leaves no process, container or temp file behind", async () => {
    const temporary = join(scratch, "tmp"); // Its own, so that nobody else's files are seen in it.
    mkdirSync(temporary);
    const stack = await startStack({ env: { TMPDIR: temporary } });
    expect(stack.ready.elapsedMs).toBeLessThan(10_000);
    const project = makeProject(BROKEN_CALCULATOR);
    const { code, document } = await stack.json<{ runId: string }>(fixing(project), {
      env: { TMPDIR: temporary },
    });
    expect(code).toBe(0);
    project.remove();
    await stack.stop(); // Throws when a child is left.
    expect(await dockerContainers(document.runId)).toEqual([]);
    expect(readdirSync(temporary).filter((name) => /antiphon/i.test(name))).toEqual([]);
  });

  test("gives the keys of model providers to the egress gateway, and to no other service", async () => {
    const key = `the-key-of-a-provider-${process.pid}`;
    const stack = await startStack({ env: { ANTHROPIC_API_KEY: key } });
    const holders = Object.entries(stack.ready.pids)
      .filter(([, pid]) => readFileSync(`/proc/${pid}/environ`, "utf8").includes(key))
      .map(([name]) => name);
    await stack.stop();
    expect(Object.keys(stack.ready.pids)).toContain("associate-1");
    expect(holders).toEqual(["egress"]);
  });

  test.each(["MALLOC_ARENA_MAX", "MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_"])(
    "its services take %s of the user, and small memory where the user says nothing",
    async (name) => {
      const stack = await startStack({ env: { [name]: "77777" } });
      const said = ROLES.map((role) => stack.pid(role === "associate" ? "associate-1" : role)).map((pid) => {
        const settings = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
        return settings.filter((setting) => setting.startsWith("MALLOC_")).toSorted();
      });
      await stack.stop();
      expect(said).toHaveLength(ROLES.length);
      for (const settings of said) {
        expect(settings).toHaveLength(3);
        expect(settings).toContain(`${name}=77777`);
      }
    },
  );

  test("a second one on the same state directory names the first one and disturbs nothing", async () => {
    const stack = await startStack();
    const second = await run(process.execPath, [
      ANTIPHON,
      "dev",
      "--port",
      "0",
      "--nats-port",
      "0",
      "--state-dir",
      stack.stateDir,
    ]);
    expect(second.stderr).toContain("ANT_DEV_ALREADY_RUNNING");
    expect(second.code).not.toBe(0);
    expect((await stack.http("GET", "/healthz")).status).toBe(200);
    await stack.stop();
  });
});

describe("processes that share nothing but NATS", () => {
  test("do the same job", async () => {
    const nats = await startNats();
    const env = { ANTIPHON_NATS_URL: nats.url, ANTIPHON_UNSAFE_TRUST: "1", ANTIPHON_LISTEN: "127.0.0.1:0" };
    let gateway: string | null = null;
    let said = "";
    const services = ROLES.map((role) => {
      const service = start(process.execPath, [ANTIPHON, "serve", "--role", role], { env, cwd: scratch });
      for (const stream of [service.stdout, service.stderr]) {
        stream?.on("data", (data: Buffer) => {
          said += data.toString();
          gateway ??= /"url":"(http:\/\/[^"]+)"/.exec(data.toString())?.[1] ?? null;
        });
      }
      return service;
    });
    const project = makeProject(BROKEN_CALCULATOR);
    try {
      const url = await eventually("the gateway's address", () => gateway, 20_000);
      const roll = await eventually("all roles", async () => {
        const { services: there } = (await (
          await fetch(`${url}/services?expect=${ROLES.length}`)
        ).json()) as {
          services: unknown[];
        };
        return there.length >= ROLES.length ? there : null;
      });
      expect(roll).toHaveLength(6);
      const ended = await run(process.execPath, [ANTIPHON, ...fixing(project), "--json"], {
        env: { ANTIPHON_GATEWAY_URL: url },
      });
      const document = JSON.parse(ended.stdout) as { runId: string; status: string };
      expect(document.status, said).toBe("succeeded");
      expect(project.landed(document.runId)).toHaveLength(1);
    } finally {
      for (const service of services) service.kill("SIGTERM");
      await Promise.all(services.map(exitOf));
      project.remove();
      await nats.close();
    }
    expect(services.map((service) => service.exitCode)).toEqual([0, 0, 0, 0, 0, 0]);
  });
});

describe("a missing dependency is reported, and nothing is lost", () => {
  test("NATS down: exit code 4 with a remedy, and an accepted run continues when it is back", async () => {
    const stack = await startStack();
    const project = makeProject(BROKEN_CALCULATOR);
    const { document } = await stack.json<{ runId: string }>([
      "run",
      "Fix the broken add",
      "--repo",
      project.path,
      "--command",
      `sleep 2; ${FIX}`,
      "--check",
      CHECK,
      "--detach",
    ]);
    process.kill(stack.ready.pids["nats-server"]!, "SIGSTOP");
    const during = await stack.antiphon(["run", "Another", "--repo", project.path, "--command", "true"]);
    process.kill(stack.ready.pids["nats-server"]!, "SIGCONT");
    expect(during.stderr).toMatch(
      /error ANT_(NATS_UNREACHABLE|DIRECTOR_UNAVAILABLE|GATEWAY_[A-Z]+): .+\nremedy: .+/,
    );
    expect(during.code).toBe(4);
    await eventually(
      "the run has landed",
      () => (project.landed(document.runId).length === 1 ? true : null),
      60_000,
    );
    project.remove();
    await stack.stop();
  });

  test("a full store: a coded 503 instead of an acceptance, and everything else stays up", async () => {
    const stack = await startStack();
    const user = readNatsUser("admin", join(stack.stateDir, "nats-users/admin.nk"));
    const bus = await connectBus({ servers: stack.ready.nats, name: "test", user });
    await bus.jsm.streams.update("KV_ANT_INTENTS", { max_bytes: 1_000_000 });
    await bus.close();
    const padding = "x".repeat(400_000);
    const post = (i: number) =>
      stack.http("POST", "/intents", { goal: `fill ${i}`, inputs: { padding }, constraints: {} });
    let answer = await post(0);
    for (let i = 1; i < 10 && answer.status === 201; i += 1) answer = await post(i);
    expect(answer).toMatchObject({ status: 503, body: { error: { code: "ANT_NATS_NO_SPACE" } } });
    expect(answer.headers.get("retry-after")).not.toBeNull();
    expect((await stack.http("GET", "/healthz")).status).toBe(200);
    await stack.stop();
  });

  test("Docker down: the doctor and the service report it, with a remedy", async () => {
    const env = { DOCKER_HOST: `unix://${join(scratch, "no-docker.sock")}` };
    const doctor = await run(process.execPath, [ANTIPHON, "doctor"], { env });
    expect(doctor.code).not.toBe(0);
    expect(`${doctor.stdout}${doctor.stderr}`).toMatch(/docker/i);
    const dev = await run(
      process.execPath,
      [ANTIPHON, "dev", "--port", "0", "--nats-port", "0", "--state-dir", join(scratch, "down")],
      { env },
    );
    expect(dev.stderr).toMatch(/error ANT_DOCKER_UNREACHABLE: .+\nremedy: .+/);
    expect(dev.code).toBe(4);
  });
});

test("npm run demo ends with a landed commit and names the place of every result", async () => {
  const ended = await run(process.execPath, [join(ROOT, "scripts", "demo.mjs")], { timeoutMs: 110_000 });
  expect(ended.code, ended.stderr).toBe(0);
  for (const words of [
    "replays a recorded session",
    "clean room",
    "What landed",
    "Its evidence",
    "Your turn",
  ])
    expect(ended.stdout).toContain(words);
  expect(existsSync(join(ROOT, ".antiphon", "demo", "evidence", "tasks", "T-001.yaml"))).toBe(true);
});
