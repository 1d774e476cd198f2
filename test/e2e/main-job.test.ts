import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { BROKEN_CALCULATOR, CHECK, FIX, fixing, makeProject, type Project } from "./support/project.ts";
import { ANTIPHON, eventually, exitOf, ROOT, run, start } from "./support/program.ts";
import { startStack, type Stack } from "./support/stack.ts";

interface Summary {
  runId: string;
  status: string;
  workflow: string;
  commit: string;
  branch: string;
  landedOn: string;
  code: string | null;
  tasks: { task: string; verdict: string; evidence: string; commit: string }[];
}

const NATS = `${ROOT}.antiphon/tools/nats`;
let stack: Stack;
let project: Project;
const scratch = mkdtempSync(join(tmpdir(), "antiphon-out-"));

beforeAll(async () => {
  stack = await startStack();
});
afterAll(async () => {
  rmSync(scratch, { recursive: true, force: true });
  await stack.stop();
});
afterEach(() => project.remove());

const nats = (...args: string[]) => run(NATS, ["--server", stack.ready.nats, ...args]);

describe("antiphon run", () => {
  test("lands a scripted change once, on its own branch, with trailers, and does not touch main", async () => {
    project = makeProject(BROKEN_CALCULATOR);
    const before = project.git("rev-parse", "main").trim();
    const { code, document } = await stack.json<Summary>(fixing(project));
    expect(document).toMatchObject({ status: "succeeded", workflow: "DEBUG", code: null });
    expect(code).toBe(0);
    expect(document.tasks).toMatchObject([{ task: "T-001", verdict: "PASS", commit: document.commit }]);
    expect(project.landed(document.runId)).toEqual([document.commit]);
    expect(project.git("show", `${document.commit}:add.js`)).toContain("a + b");
    const trailers = project.git("log", "-1", "--format=%(trailers:only,unfold)", document.commit);
    expect(trailers).toContain(`Antiphon-Run: ${document.runId}`);
    expect(trailers).toMatch(/Antiphon-Task: T-001\nAntiphon-Epoch: 1\nAntiphon-Evidence: sha256-/);
    expect(project.git("rev-parse", "main").trim()).toBe(before);
    expect(project.git("status", "--porcelain")).toBe("");
  });

  test("lands a commit that git verifies, and shows only decisions with a valid signature", async () => {
    project = makeProject(BROKEN_CALCULATOR);
    const { document } = await stack.json<Summary>(fixing(project));
    const signers = join(scratch, "signers");
    writeFileSync(signers, (await stack.antiphon(["keys", "--allowed-signers"])).stdout);
    const trust = `gpg.ssh.allowedSignersFile=${signers}`;
    project.git("-c", trust, "verify-commit", document.commit);
    const { stdout } = await stack.antiphon(["get", document.runId]);
    expect(stdout).toMatch(/signed by +director \S{12}: 3 decisions verified/);
    const stranger = await stack.antiphon(["get", document.runId, "--json"], {
      env: { ANTIPHON_DIRECTOR_KEYS: "A".repeat(43) },
    });
    expect(stranger.code).toBe(1);
    expect(stranger.stdout).toContain("ANT_SIGNATURE_INVALID");
  });

  test("moves the target branch and its clean work tree on request", async () => {
    project = makeProject(BROKEN_CALCULATOR);
    const { document } = await stack.json<Summary>([...fixing(project), "--land", "main"]);
    expect(document).toMatchObject({ status: "succeeded", landedOn: "refs/heads/main" });
    expect(project.git("rev-parse", "main").trim()).toBe(document.commit);
    expect(readFileSync(join(project.path, "add.js"), "utf8")).toContain("a + b");
    expect(project.git("status", "--porcelain")).toBe("");
  });

  test("accepts a patch file, or any program that edits the work tree", async () => {
    project = makeProject(BROKEN_CALCULATOR);
    project.write("add.js", "module.exports = (a, b) => a + b;\n");
    const patch = join(scratch, "fix.diff");
    writeFileSync(patch, project.git("diff"));
    project.git("checkout", "--", "add.js");
    const byPatch = await stack.json<Summary>([
      "run",
      "Fix the broken add",
      "--repo",
      project.path,
      "--patch",
      patch,
      "--check",
      CHECK,
    ]);
    expect(byPatch.document.status).toBe("succeeded");
    const program =
      'const t=JSON.parse(require("fs").readFileSync(0,"utf8")); require("fs").writeFileSync("add.js","module.exports = (a, b) => a + b; // "+t.task.task_id+"\\n")';
    const byProgram = await stack.json<Summary>([
      "run",
      "Fix the broken add",
      "--repo",
      project.path,
      "--check",
      CHECK,
      "--agent",
      "command",
      "--",
      "node",
      "-e",
      program,
    ]);
    expect(byProgram.document.status).toBe("succeeded");
    expect(project.git("show", `${byProgram.document.commit}:add.js`)).toContain("// T-001");
  });

  test("finds the repository's own check if none is given", async () => {
    project = makeProject({ ...BROKEN_CALCULATOR, "package.json": '{"scripts":{"test":"node test.js"}}\n' });
    const { document } = await stack.json<Summary>([
      "run",
      "Fix the broken add",
      "--repo",
      project.path,
      "--command",
      FIX,
    ]);
    expect(document).toMatchObject({ status: "succeeded" });
    const { stdout } = await stack.antiphon(["evidence", "get", document.runId, "--json"]);
    expect(stdout).toContain("npm test");
  });

  test("describes what happened, and where the commit and the evidence are", async () => {
    project = makeProject(BROKEN_CALCULATOR);
    const { code, stdout, stderr } = await stack.antiphon(fixing(project));
    expect(stderr).toBe("");
    expect(code).toBe(0);
    for (const word of ["DEBUG", "T-001", "clean room", "antiphon/run_", "evidence"])
      expect(stdout).toContain(word);
  });
});

describe("a person on the command line", () => {
  test("who types Ctrl-C as soon as the id of the run is shown learns that it goes on, and how to stop it", async () => {
    project = makeProject(BROKEN_CALCULATOR);
    const env = { ANTIPHON_GATEWAY_URL: stack.ready.gateway };
    const watching = start(process.execPath, [ANTIPHON, ...fixing(project)], { env });
    let [out, err] = ["", ""];
    watching.stderr?.on("data", (data: Buffer) => (err += data.toString()));
    watching.stdout?.on("data", (data: Buffer) => {
      if (out === "") watching.kill("SIGINT");
      out += data.toString();
    });
    expect(await exitOf(watching)).toBe(130);
    const id = /^run_\w+/.exec(out)?.[0];
    expect(err).toContain(`${id} is still running.`);
    expect(err).toContain(`antiphon cancel ${id}`);
    expect((await stack.antiphon(["wait", String(id)])).stdout).toBe("succeeded\n");
  });

  test("sees runs come and end with `runs --watch`, and gets the page of one with `open`", async () => {
    project = makeProject(BROKEN_CALCULATOR);
    const env = { ANTIPHON_GATEWAY_URL: stack.ready.gateway };
    const watching = start(process.execPath, [ANTIPHON, "runs", "--watch"], { env });
    let shown = "";
    watching.stdout?.on("data", (data: Buffer) => (shown += data.toString()));
    try {
      const { document } = await stack.json<Summary>(fixing(project));
      const line = new RegExp(`${document.runId}.*succeeded`);
      await eventually("the run is shown as succeeded", () => line.exec(shown));
      const { document: page } = await stack.json<{ url: string }>(["open", document.runId]);
      expect(page.url).toBe(`${stack.ready.gateway}/#/runs/${document.runId}`);
    } finally {
      watching.kill("SIGINT");
      await exitOf(watching);
    }
    const none = await stack.antiphon(["open", `run_${"0".repeat(20)}`]);
    expect([none.code, none.stdout]).toEqual([2, ""]);
    expect(none.stderr).toContain("ANT_RUN_NOT_FOUND");
  });
});

describe("evidence", () => {
  test("is readable with the stock nats CLI and exported as the seed's bundle", async () => {
    project = makeProject(BROKEN_CALCULATOR);
    const { document } = await stack.json<Summary>(fixing(project));
    const manifest = JSON.parse(
      (await nats("kv", "get", "ANT_EVIDENCE", `${document.runId}.T-001.1`, "--raw")).stdout,
    ) as {
      decision: string;
      files: { path: string; blob: { name: string } }[];
    };
    expect(manifest.decision).toBe("propose");
    const paths = manifest.files.map((file) => file.path);
    expect(paths).toContain("diff.patch");
    expect(paths.some((path) => path.startsWith("checks/"))).toBe(true);
    expect(paths.some((path) => path.startsWith("provenance/"))).toBe(true);
    const diff = manifest.files.find((file) => file.path === "diff.patch")!;
    const got = await nats(
      "object",
      "get",
      "ANT_EVIDENCE_FILES",
      diff.blob.name,
      "--output",
      join(scratch, "got.patch"),
      "--force",
      "--no-progress",
    );
    expect(got.code).toBe(0);
    expect(readFileSync(join(scratch, "got.patch"), "utf8")).toContain("+module.exports = (a, b) => a + b;");
    const verdict = JSON.parse(
      (await nats("kv", "get", "ANT_EVIDENCE", `${document.runId}.T-001.1.verdict`, "--raw")).stdout,
    ) as { decision: string };
    expect(verdict.decision).toBe("PASS");
    const router = JSON.parse(
      (await nats("kv", "get", "ANT_CONTRACTS", `${document.runId}.router`, "--raw")).stdout,
    ) as { router_contract: { status: string; evidence: unknown[] } };
    expect(router.router_contract.status).toBe("COMPLETE");
    expect(router.router_contract.evidence).not.toHaveLength(0);
    const view = JSON.parse((await nats("kv", "get", "ANT_RUNS", document.runId, "--raw")).stdout) as {
      status: string;
    };
    expect(view.status).toBe("succeeded");

    const out = join(scratch, "export");
    expect((await stack.antiphon(["evidence", "export", document.runId, "--out", out])).code).toBe(0);
    expect(existsSync(join(out, "tasks", "T-001.yaml"))).toBe(true);
    expect(readFileSync(join(out, "tasks", "T-001.yaml"), "utf8")).toContain("status: done");
    expect(existsSync(join(out, "evidence", "T-001", `run-${document.runId}.1`, "diff.patch"))).toBe(true);
  });

  test("messages decode on the command line, and each carries its schema", async () => {
    project = makeProject(BROKEN_CALCULATOR);
    const { document } = await stack.json<Summary>(fixing(project));
    const raw = await nats(
      "stream",
      "get",
      "ANT_JOURNAL_0",
      "--last-for",
      `antiphon.v1.run.0.claim.${document.runId}.t-001.1`,
      "--json",
    );
    const message = JSON.parse(raw.stdout) as { data: string; hdrs: string };
    expect(Buffer.from(message.hdrs, "base64").toString()).toMatch(/Antiphon-Schema: \S*[cC]laim/);
    const decoded = await stack.antiphon(["decode"], { stdin: Buffer.from(message.data, "base64") });
    expect(JSON.parse(decoded.stdout)).toMatchObject({
      type: "claim",
      runId: document.runId,
      taskId: "T-001",
      epoch: 1,
    });
  });
});
