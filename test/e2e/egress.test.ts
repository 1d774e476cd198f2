/** A run with network egress, from the command line to the evidence of its attempt. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { NAMES, startUpstreams, type Upstreams } from "../support/egress-upstreams.ts";
import { BROKEN_CALCULATOR, CHECK, FIX, makeProject, type Project } from "./support/project.ts";
import { startStack, type Stack } from "./support/stack.ts";

let stack: Stack;
let project: Project;
let upstreams: Upstreams;
let directory: string;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "antiphon-egress-"));
  upstreams = await startUpstreams(directory);
  const file = (name: string, text: string): string => {
    writeFileSync(join(directory, name), text, { mode: 0o600 });
    return join(directory, name);
  };
  const config = {
    upstream_ca_file: file("ca.pem", upstreams.authority),
    package_hosts: [NAMES.packages],
    overrides: Object.fromEntries(
      [NAMES.echo, NAMES.packages].map((host) => [`${host}:443`, `127.0.0.1:${upstreams.port}`]),
    ),
    credentials: [{ host: NAMES.echo, file: file("key", "e2e-canary-8d1f2c") }],
  };
  stack = await startStack({ env: { ANTIPHON_EGRESS_CONFIG: file("egress.json", JSON.stringify(config)) } });
  project = makeProject(BROKEN_CALCULATOR);
});
afterAll(async () => {
  project.remove();
  await stack.stop();
  await upstreams.close();
  rmSync(directory, { recursive: true, force: true });
});

test("a run with --allow-host reaches only that host, with its credential, and its evidence shows both", async () => {
  const ask = (url: string): string =>
    `python3 -c "import urllib.request as u; print(u.urlopen('${url}').read())" || true`;
  const { document } = await stack.json<{ runId: string; status: string }>([
    ...["run", "Fix the broken add", "--repo", project.path, "--allow-host", NAMES.echo, "--check", CHECK],
    ...["--command", `${FIX}; ${ask(`https://${NAMES.echo}/hello`)}; ${ask(`https://${NAMES.other}/`)}`],
  ]);
  expect(document).toMatchObject({ status: "succeeded" });
  expect(upstreams.heard.map(({ headers }) => headers.authorization)).toEqual(["Bearer e2e-canary-8d1f2c"]);
  const log = await stack.antiphon([
    "evidence",
    "get",
    document.runId,
    "T-001",
    "1",
    "egress/requests.jsonl",
  ]);
  expect(log.stdout).toContain(`"host":"${NAMES.echo}"`);
  expect(log.stdout).toContain("ANT_EGRESS_HOST");
  expect(log.stdout).not.toContain("e2e-canary");
});

describe("a DirectorTask that says nothing about its network", () => {
  const download = `python3 -c "import urllib.request as u; u.urlopen('https://${NAMES.packages}/lib.tgz').read()"`;
  const plan = (): string => {
    const path = join(directory, "director-task.json");
    const task = {
      ...{ task_id: "T-001", kind: "edit_repo", instruction: "Fix the broken add", acceptance_criteria: [] },
      ...{ allowed_tools: ["bash"], verify_profile: { mode: "smoke", commands: [CHECK] } },
      commands: [`${download}; ${FIX}`],
      return: { diff: true, diff_format: "unified", logs: true, files_changed: true, artifacts: [] },
    };
    writeFileSync(path, JSON.stringify(task));
    return path;
  };
  const run = (...more: string[]) =>
    stack.json<{ runId: string; status: string; tasks: { network?: string }[] }>([
      ...["run", "Fix the broken add", "--repo", project.path, "--plan", plan(), "--attempts", "1", ...more],
    ]);
  const downloads = () => upstreams.heard.filter(({ host }) => host === NAMES.packages).map(({ url }) => url);

  test("downloads nothing where its run says none, and the run shows no network", async () => {
    const { document } = await run("--egress", "none");
    expect(document.tasks[0]).not.toHaveProperty("network");
    expect(downloads()).toEqual([]);
  });

  test("downloads over the egress gateway where its run says nothing either, and run and export say so", async () => {
    const { document } = await run();
    expect(document).toMatchObject({ status: "succeeded", tasks: [{ network: "git+pkg" }] });
    expect(downloads()).toEqual(["/lib.tgz"]);
    const folder = join(directory, "exported");
    await stack.antiphon(["evidence", "export", document.runId, "--out", folder]);
    expect(readFileSync(join(folder, "tasks", "T-001.yaml"), "utf8")).toContain("mode: git+pkg");
  });
});
