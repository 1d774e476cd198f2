/** deploy/compose as the guide says, with the images of build-offline.mjs and a NATS user for each service. */
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { patient } from "../support/patience.ts";
import { docker } from "../support/pods/docker.ts";
import { freePort } from "../support/pods/free-port.ts";
import { ANTIPHON, ROOT, run, type Ended } from "./support/program.ts";
import { BROKEN_CALCULATOR, fixing, makeProject, type Project } from "./support/project.ts";

const TAG = "compose-test";
const directory = mkdtempSync(join(tmpdir(), "antiphon-compose-"));
let project: Project;
let env: Record<string, string>;

const antiphon = (...args: string[]): Promise<Ended> => run(process.execPath, [ANTIPHON, ...args], { env });

/** Compose v2: the one of set-up, otherwise the engine's plugin. */
async function compose(...args: string[]): Promise<string> {
  const own = join(ROOT, ".antiphon/tools/docker-compose");
  const [program, first] = existsSync(own) ? [own, []] : ["docker", ["compose"]];
  const files = ["-f", "deploy/compose/compose.yaml", "-f", "deploy/compose/nats-users.yaml"];
  const all = [...first, "-p", `antiphon-test-${process.pid}`, ...files, ...args];
  const { code, stdout, stderr } = await run(program, all, { env, timeoutMs: 180_000 });
  expect(code, `compose ${args.join(" ")}: ${stdout}${stderr}`).toBe(0);
  return stdout;
}

const up = (): Promise<string> => compose("up", "--detach", "--wait", "--pull", "never", "--no-build");

beforeAll(async () => {
  const built = await run(process.execPath, ["deploy/images/build-offline.mjs", TAG], { timeoutMs: 300_000 });
  expect(built.code, built.stdout).toBe(0);
  project = makeProject(BROKEN_CALCULATOR);
  const gatewayPort = String(await freePort());
  const { ref } = JSON.parse(readFileSync(join(ROOT, ".antiphon/image.json"), "utf8")) as { ref: string };
  const { uid, gid } = userInfo();
  env = {
    ANTIPHON_TAG: TAG,
    NATS_IMAGE: `antiphon-nats:${TAG}`,
    ANTIPHON_SANDBOX_IMAGE: ref,
    ANTIPHON_NATS_USERS: join(directory, "nats-users"),
    ANTIPHON_NATS_TOKEN: "unused",
    ANTIPHON_TOKEN: "a-token-of-this-test-only",
    ANTIPHON_REPOS: project.path,
    ANTIPHON_REPOS_USER: `${uid}:${gid}`,
    ANTIPHON_DOCKER_GID: String(statSync("/var/run/docker.sock").gid),
    ANTIPHON_GATEWAY_PORT: gatewayPort,
    ANTIPHON_NATS_PORT: String(await freePort()),
    ANTIPHON_GATEWAY_URL: `http://127.0.0.1:${gatewayPort}`,
  };
  expect((await antiphon("nats", "bootstrap", join(directory, "nats-users"))).code).toBe(0);
}, patient(320_000));

afterAll(async () => {
  await compose("down", "--volumes");
  project.remove();
  rmSync(directory, { recursive: true, force: true });
  const ours = docker([
    "images",
    "--format",
    "{{.Repository}}:{{.Tag}}",
    "--filter",
    `reference=antiphon-*:${TAG}`,
  ]);
  docker(["rmi", ...ours.split("\n")]);
}, patient(120_000));

test(
  "`docker compose up` as the guide says makes every service healthy, and a run lands",
  async () => {
    await up();
    const { stdout } = await antiphon("doctor");
    expect(stdout).toMatch(/ok +services +associate, director, egress, gateway, router, sandbox-runner/);
    expect(stdout).toMatch(/ok +NATS users +each service has its own/);
    const ended = await antiphon(...fixing(project), "--json");
    expect(ended.code, ended.stdout + ended.stderr).toBe(0);
    const { runId } = JSON.parse(ended.stdout) as { runId: string };
    expect(project.landed(runId)).toHaveLength(1);
  },
  patient(240_000),
);

test(
  "after `down` and `up` the journal and the signing key are the same, so old decisions are still verified",
  async () => {
    const verified = async (): Promise<string | undefined> => {
      const runs = JSON.parse((await antiphon("runs", "--json")).stdout) as { runs: { runId: string }[] };
      const told = await antiphon("get", runs.runs[0]?.runId ?? "");
      return /signed by +(.*)/.exec(told.stdout)?.[1];
    };
    const before = await verified();
    expect(before).toMatch(/^director \S+: 3 decisions verified$/);
    await compose("down");
    await up();
    expect(await verified()).toBe(before);
  },
  patient(240_000),
);
