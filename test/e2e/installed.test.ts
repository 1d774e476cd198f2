/**
 * The npm package in a directory of its own, far from any checkout: `npm run pack`, `npm install`, `antiphon setup`, a landed
 * commit. The commands run in a network namespace, where the usual ports are free whatever else this machine runs.
 */
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { faultsOfBill } from "../support/cyclonedx.ts";
import { natsServerBinary } from "../support/nats.ts";
import { BROKEN_CALCULATOR, CHECK, FIX, makeProject, type Project } from "./support/project.ts";
import { ROOT, run, type Ended } from "./support/program.ts";

const place = mkdtempSync(join(tmpdir(), "antiphon-installed-"));
const namespace = `ant-installed-${process.pid}`;
const home = join(place, "home");
const installed = join(place, "node_modules/antiphon");
const state = join(home, ".local/state/antiphon");
let project: Project;

beforeAll(async () => {
  const packed = await run(process.execPath, [join(ROOT, "scripts/pack.mjs"), "--out", place]);
  expect(packed.code, packed.stderr).toBe(0);
  const [file = ""] = readdirSync(place).filter((name) => name.endsWith(".tgz"));
  const npm = ["install", "--offline", "--no-audit", "--no-fund", `./${file}`];
  const install = await run("npm", npm, { cwd: place });
  expect(install.code, install.stderr).toBe(0);
  execFileSync("ip", ["netns", "add", namespace]);
  execFileSync("ip", ["netns", "exec", namespace, "ip", "link", "set", "lo", "up"]);
  project = makeProject(BROKEN_CALCULATOR);
});

afterAll(async () => {
  await antiphon(["dev", "--stop"]);
  execFileSync("ip", ["netns", "del", namespace]);
  project.remove();
  rmSync(place, { recursive: true, force: true });
});

function antiphon(args: readonly string[], cwd = project.path): Promise<Ended> {
  const command = ["netns", "exec", namespace, join(place, "node_modules/.bin/antiphon"), ...args];
  const env = {
    HOME: home,
    XDG_STATE_HOME: "",
    ANTIPHON_STATE_DIR: "",
    ANTIPHON_GATEWAY_URL: "",
    NATS_SERVER_BIN: natsServerBinary(),
  };
  return run("ip", command, { cwd, env });
}

async function json(args: readonly string[]): Promise<Record<string, unknown>> {
  const { stdout, stderr } = await antiphon([...args, "--json"]);
  expect(stdout, stderr).not.toBe("");
  return JSON.parse(stdout) as Record<string, unknown>;
}

describe("the installed package", () => {
  test("needs no other package, and names what it contains with the licences", () => {
    const manifest = JSON.parse(readFileSync(join(installed, "package.json"), "utf8")) as object;
    expect(manifest).not.toHaveProperty("dependencies");
    expect(readdirSync(join(place, "node_modules")).filter((name) => !name.startsWith("."))).toEqual([
      "antiphon",
    ]);
    const notices = readFileSync(join(installed, "THIRD-PARTY.txt"), "utf8");
    expect(notices).toMatch(/^fastify \d.* \(MIT\)$/m);
    const bill = createRequire(import.meta.url)(join(installed, "sbom.cdx.json")) as {
      components: { name: string; version: string; purl: string; hashes: unknown[] }[];
    };
    expect(faultsOfBill(bill)).toEqual([]);
    expect(faultsOfBill({ ...bill, components: [{ type: "library" }] })).not.toEqual([]);
    for (const { name, version, purl, hashes } of bill.components) {
      expect(notices).toContain(`${name} ${version} (`);
      expect(purl).toBe(`pkg:npm/${name.replace(/^@/, "%40")}@${version}`);
      expect(hashes).toEqual([
        { alg: "SHA-512", content: expect.stringMatching(/^[0-9a-f]{128}$/) as string },
      ]);
    }
    expect(bill.components.map(({ name }) => name)).toEqual(expect.arrayContaining(["xstate", "dockerode"]));
    expect(bill.components.map(({ name }) => name)).not.toContain("vitest");
  });

  test("tells its version, its commit, node and the platform", async () => {
    const commit = project.git("-C", ROOT, "rev-parse", "HEAD").trim();
    expect(await json(["version"])).toMatchObject({
      version: expect.stringMatching(/^\d+\.\d+\.\d+$/) as string,
      commit: expect.stringMatching(new RegExp(`^${commit}(-dirty)?$`)) as string,
      node: process.versions.node,
      platform: `${process.platform} ${process.arch}`,
      root: installed,
    });
  });

  test("sets up what a package cannot hold, in the user's own directory, and its doctor finds that", async () => {
    chmodSync(installed, 0o555);
    const setup = await json(["setup"]);
    expect(setup).toMatchObject({ ok: true });
    expect((setup.steps as { name: string }[]).map(({ name }) => name).sort()).toEqual([
      "docker engine",
      "git",
      "nats-server",
      "sandbox image",
    ]);
    expect(existsSync(join(state, "image.json"))).toBe(true);
    const { findings } = (await json(["doctor"])) as { findings: { name: string; state: string }[] };
    expect(findings).toContainEqual(expect.objectContaining({ name: "image", state: "ok" }));
    expect(findings).toContainEqual(expect.objectContaining({ name: "gateway", state: "off" }));
  });

  test("does not start services with --no-start, or if the gateway is named", async () => {
    const refused = await antiphon(["run", "Fix it", "--no-start", "--command", FIX]);
    expect(refused).toMatchObject({ code: 4 });
    expect(refused.stderr).toContain("error ANT_GATEWAY_UNREACHABLE: no gateway answers");
    expect((await json(["dev", "--status"])).state).toBe("not running");
  });

  test("starts one dev for two runs at once, finds the repository around it, and lands commits", async () => {
    const order = ["--command", FIX, "--check", CHECK];
    const [watched, detached] = await Promise.all([
      antiphon(["run", "Fix the broken add", ...order, "--json"]),
      antiphon(["run", "Fix the add", ...order, "--detach", "--json"]),
    ]);
    expect(watched.stderr).toMatch(
      /^no gateway answers: starting the services .*dev\.log.*antiphon dev --stop/,
    );
    expect(watched.code, watched.stderr).toBe(0);
    const summary = JSON.parse(watched.stdout) as { runId: string; commit: string };
    expect(project.landed(summary.runId)).toEqual([summary.commit]);
    const { runId } = JSON.parse(detached.stdout) as { runId: string };
    expect((await antiphon(["events", runId])).code).toBe(0);
    expect(project.landed(runId)).toHaveLength(1);
    const status = await json(["dev", "--status"]);
    expect(status).toMatchObject({ state: "running", gateway: "http://127.0.0.1:3001" });
    const log = readFileSync(String(status.log), "utf8");
    expect(log.match(/"event":"ready"/g)).toHaveLength(1);
  });

  test("starts nothing for a second run, and `dev --stop` ends all of it", async () => {
    const again = await antiphon(["run", "Fix the add", "--command", FIX, "--check", CHECK]);
    expect(again).toMatchObject({ code: 0, stderr: "" });
    expect(await json(["dev", "--stop"])).toMatchObject({ stopped: true });
    expect(await json(["dev", "--stop"])).toMatchObject({ stopped: false });
    const status = await antiphon(["dev", "--status"]);
    expect(status.code).toBe(1);
    expect(status.stdout).toContain("not running");
  });

  test("reports the reason if the services cannot start, and leaves nothing behind", async () => {
    const broken = await run(
      "ip",
      [
        "netns",
        "exec",
        namespace,
        join(place, "node_modules/.bin/antiphon"),
        "run",
        "x",
        "--command",
        "true",
      ],
      {
        cwd: project.path,
        env: {
          HOME: home,
          ANTIPHON_STATE_DIR: join(place, "none"),
          NATS_SERVER_BIN: "",
          PATH: pathWithoutNats(),
        },
      },
    );
    expect(broken.code).toBe(4);
    expect(broken.stderr).toMatch(/error ANT_NATS_BINARY_MISSING: .*\nremedy: .*antiphon setup/);
    // The lock's file stays, and is free.
    expect(readdirSync(join(place, "none/dev"))).toEqual(["lock"]);
    execFileSync("flock", ["-n", join(place, "none/dev/lock"), "true"]);
  });
});

/** The tools that the command itself needs, and no nats-server. */
function pathWithoutNats(): string {
  return (process.env.PATH ?? "")
    .split(":")
    .filter((folder) => !existsSync(join(folder, "nats-server")))
    .join(":");
}
