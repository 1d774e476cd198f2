/** A run on a machine without a container engine: `antiphon dev --sandbox bubblewrap`. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BROKEN_CALCULATOR, fixing, makeProject } from "./support/project.ts";
import { ANTIPHON, ROOT, run } from "./support/program.ts";
import { startStack, type Stack } from "./support/stack.ts";

/** No engine answers at this address, so any use of one would fail. */
const NO_ENGINE = { DOCKER_HOST: "unix:///nowhere/docker.sock" };

describe("without a container engine", () => {
  let stack: Stack;
  beforeAll(async () => {
    stack = await startStack({ env: NO_ENGINE, args: ["--sandbox", "bubblewrap"] });
  });
  afterAll(() => stack.stop());

  it("a run works, verifies and lands in bubblewrap sandboxes, and its evidence shows that", async () => {
    const project = makeProject(BROKEN_CALCULATOR);
    try {
      const { code, document } = await stack.json<{ runId: string; status: string }>(fixing(project));
      expect([code, document.status]).toEqual([0, "succeeded"]);
      expect(project.landed(document.runId)).toHaveLength(1);
      const file = ["T-001", "1", "provenance/environment.json"];
      const { stdout } = await stack.antiphon(["evidence", "get", document.runId, ...file]);
      expect(stdout).toContain('"bubblewrap"');
    } finally {
      project.remove();
    }
  });

  it("the one image is listed as the OpenAPI document says", async () => {
    const { status, body } = await stack.http("GET", "/images", undefined, { accept: "application/json" });
    expect([status, body["images"]]).toMatchObject([200, [{ ref: "host", id: "host" }]]);
  });

  it("the doctor lists the working providers, and why the others do not work", async () => {
    const env = { ...NO_ENGINE, ANTIPHON_SANDBOX_PROVIDER: "bubblewrap" };
    const { stdout } = await stack.antiphon(["doctor", "--json"], { env });
    const { findings } = JSON.parse(stdout) as {
      findings: { name: string; state: string; detail: string }[];
    };
    const of = (name: string) => findings.find((finding) => finding.name === name);
    expect([of("bubblewrap")?.state, of("docker")?.state]).toEqual(["ok", "off"]);
    for (const name of ["e2b", "microsandbox"]) {
      const found = of(name);
      if (found?.state !== "ok") expect(found?.detail).toMatch(/unavailable: ./);
    }
  });

  it("production mode refuses it, with the reason", async () => {
    const env = {
      ...NO_ENGINE,
      ANTIPHON_SANDBOX_PROVIDER: "bubblewrap",
      ANTIPHON_NATS_URL: stack.ready.nats,
      ANTIPHON_UNSAFE_TRUST: "1",
    };
    const ended = await run(process.execPath, [ANTIPHON, "serve", "--role", "sandbox-runner"], {
      env,
      cwd: ROOT,
    });
    expect(ended.code).not.toBe(0);
    expect(ended.stderr).toContain("ANT_SANDBOX_PROVIDER");
    expect(ended.stderr).toContain("development only");
  });
});
