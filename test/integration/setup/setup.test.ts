import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { natsServerBinary } from "../../support/nats.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));

interface Report {
  ok: boolean;
  steps: { name: string; outcome: string; detail: string; remedy?: string }[];
}

/** A state directory of its own leaves the checkout's untouched; the engine and its image are shared. */
let state: string;
beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), "antiphon-setup-"));
});
afterEach(() => rmSync(state, { recursive: true, force: true }));

function setUp(
  args: string[] = [],
  env: Record<string, string> = {},
): Promise<{ code: number; output: string }> {
  const child = spawn(process.execPath, ["setup/main.mjs", ...args], {
    cwd: root,
    env: { ...process.env, ANTIPHON_STATE_DIR: state, NATS_SERVER_BIN: natsServerBinary(), ...env },
  });
  const chunks: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => chunks.push(chunk));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({ code: code ?? 1, output: Buffer.concat(chunks).toString() }));
  });
}

const report = ({ output }: { output: string }): Report => JSON.parse(output) as Report;

describe("npm run setup", () => {
  it("finds everything in place, writes the name of the image, and leaves no lock", async () => {
    const result = await setUp(["--json"]);
    expect(result.code, result.output).toBe(0);
    const { ok, steps } = report(result);
    expect(ok).toBe(true);
    expect(steps.map((step) => step.name).sort()).toEqual(
      ["docker engine", "git", "nats-server", "npm packages", "sandbox image"].sort(),
    );
    expect(steps.map((step) => step.outcome)).not.toContain("failed");
    const image = JSON.parse(readFileSync(join(state, "image.json"), "utf8")) as { ref: string; id: string };
    expect(image.ref).toMatch(/^antiphon-sandbox:[0-9a-f]{12}$/);
    expect(image.id).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(readdirSync(state).filter((name) => name.includes("lock"))).toEqual([]);
  });

  it("lets two at the same time both succeed, one after the other", async () => {
    const results = await Promise.all([setUp(), setUp(), setUp()]);
    for (const result of results) {
      expect(result.code, result.output).toBe(0);
      expect(result.output).toMatch(/^ok {3}sandbox image/m);
    }
    expect(readdirSync(state).filter((name) => name.includes("lock"))).toEqual([]);
  });

  it("takes over the lock of a process that died", async () => {
    const dead = spawnSync(process.execPath, ["--version"]).pid;
    writeFileSync(join(state, "setup.lock"), `${dead}\n`);
    const result = await setUp();
    expect(result.code, result.output).toBe(0);
    expect(result.output).not.toContain("waiting");
  });

  it("prints a failure in one line and the remedy in the next, and continues with the other steps", async () => {
    const nowhere = join(state, "no-engine.sock");
    const result = await setUp([], { DOCKER_HOST: `unix://${nowhere}` });
    expect(result.code).toBe(1);
    expect(result.output).toMatch(/^FAIL docker engine .*DOCKER_HOST names .*no-engine\.sock/m);
    expect(result.output).toMatch(/^ {5}remedy: .*unset DOCKER_HOST/m);
    expect(result.output).toMatch(/^ok {3}nats-server/m);
    expect(result.output).toMatch(/^not complete: docker engine$/m);
  });

  it.each([
    ["a server that is not there", { NATS_SERVER_BIN: "/nonexistent/nats-server" }, "nats-server"],
    ["a sandbox image that is not there", { ANTIPHON_SANDBOX_IMAGE: "antiphon-none:none" }, "sandbox image"],
  ])("refuses %s when it is named, with a remedy", async (_, env, step) => {
    const result = await setUp(["--json"], env);
    expect(result.code).toBe(1);
    const { ok, steps } = report(result);
    expect(ok).toBe(false);
    const failed = steps.filter((one) => one.outcome === "failed");
    expect(failed.map((one) => one.name)).toEqual([step]);
    expect(failed[0]?.detail).toContain(Object.values(env)[0]);
    expect(failed[0]?.remedy).toContain("unset");
  });

  it("explains itself, and refuses an option it does not know", async () => {
    const help = await setUp(["--help"]);
    expect(help).toMatchObject({ code: 0 });
    expect(help.output).toContain("--for-tests");
    const wrong = await setUp(["--fast"]);
    expect(wrong.code).toBe(2);
    expect(wrong.output).toContain("unknown option --fast");
  });
});
