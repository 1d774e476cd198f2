/** Environments of several runners, each with a disk and volumes of its own, over real NATS and the real engine. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  BUCKETS,
  decode,
  subjects,
  type EnvironmentReport,
  type EnvironmentSpec,
  type SandboxOutcome,
} from "@antiphon/contracts";
import { createLogger, openBlobs, openKv, type RunningService } from "@antiphon/runtime";
import type { EnvironmentRecord } from "../../../services/sandbox-runner/src/environments/environment-record.ts";
import { canonicalTar } from "../../../services/sandbox-runner/src/workspace/tar-writer.ts";
import { testEngine, type TestEngine } from "../../support/docker.ts";
import { egressWorld, startRunner, type EgressWorld } from "../../support/egress-world.ts";

const TREE = "tree-fedcba9876543210.tar";
const SILENT = createLogger("test", { level: "silent" });

let world: EgressWorld;
const directories: string[] = [];
const engines: TestEngine[] = [];

beforeAll(async () => {
  world = await egressWorld("env-runners");
  const readme = { path: "README.md", mode: "100644" as const, content: Buffer.from("hello\n") };
  await openBlobs(world.bus, BUCKETS.repos).put(TREE, canonicalTar([readme]));
  await world.services.runner.stop(); // Each test has runners of its own.
});
afterAll(async () => {
  await world.close();
  for (const engine of engines) {
    await engine.expectNoContainers();
    await engine.removeLayers();
  }
  for (const directory of directories) rmSync(directory, { recursive: true, force: true });
});

/** A runner that has nothing yet. */
async function newRunner(): Promise<RunningService> {
  const engine = testEngine("env-runner");
  const directory = mkdtempSync(join(tmpdir(), "antiphon-env-runner-"));
  engines.push(engine);
  directories.push(directory);
  return startRunner(world.nats.url, { instance: engine.instance, directory, log: SILENT });
}

/** What setup makes tells which preparation it was. */
function specOf(inputs: string): EnvironmentSpec {
  return {
    commands: ["mkdir node_modules && cat /proc/sys/kernel/random/uuid > node_modules/made"],
    inputs: inputs.repeat(64),
    decided_by: ["package-lock.json"],
    scope: "repo:test",
    source: { tree: TREE, overlay: null, deletions: [] },
    ...{ tools: [], path: [], variables: {}, found: ["package-lock.json"], packages: null },
  };
}

async function made(spec: EnvironmentSpec): Promise<{ said: string; report: EnvironmentReport }> {
  const workspace = { tree: TREE, files: [], overlay: null, deletions: [], environment: spec };
  const { outcome, out } = await world.run(null, "cat node_modules/made", { workspace });
  return { said: out, report: reportOf(outcome) };
}

function reportOf(outcome: SandboxOutcome): EnvironmentReport {
  if (outcome.environment === undefined) throw new Error(`${outcome.outcome}: ${outcome.message}`);
  return outcome.environment;
}

test("an environment that one runner prepared is fetched by another one and not prepared again; each says when it lays it out", async () => {
  const first = await newRunner();
  const told: string[] = [];
  const news = world.bus.nc.subscribe(subjects.log("run_egress", "T-001", "progress"), {
    callback: (_error, { data }) => {
      told.push((decode(data) as { text: string }).text.replace(/ [0-9a-f]{8,}.*/, ""));
    },
  });
  const before = await made(specOf("a"));
  expect(before.report.cached).toBe(false);
  await first.stop();
  const second = await newRunner();
  const after = await made(specOf("a"));
  await made(specOf("a"));
  await world.bus.nc.flush();
  news.unsubscribe();
  const laid = ["laying out the repository", "laying out the environment"];
  const stages = told.filter((text) => !text.startsWith("preparing"));
  await second.stop();
  expect(stages).toEqual(["environment", ...laid, "environment", ...laid, "environment"]); // prepared, cached, cached
  expect(after.report).toMatchObject({ cached: true, layer: before.report.layer });
  expect(after.said).toBe(before.said);
});

test("two runners that are asked at the same time prepare one environment once", async () => {
  const runners = [await newRunner(), await newRunner()];
  const found = await Promise.all(Array.from({ length: 6 }, () => made(specOf("b"))));
  await Promise.all(runners.map((runner) => runner.stop()));
  expect(found.filter(({ report }) => !report.cached)).toHaveLength(1);
  expect(new Set(found.map(({ said }) => said)).size).toBe(1);
});

test("an archive whose bytes were changed in the store is not used: the environment is prepared again", async () => {
  const first = await newRunner();
  const before = await made(specOf("c"));
  await first.stop();
  const layers = openBlobs(world.bus, BUCKETS.layers, { mayPurge: true });
  const record = await openKv(world.bus, BUCKETS.environments).get<EnvironmentRecord>(before.report.key);
  if (record?.value.state !== "ready") throw new Error("the environment is not stored");
  const { name } = record.value.layer;
  const bytes = await layers.get(name);
  const forged = Buffer.from(bytes.toString("latin1").replace(before.said.trim(), "f".repeat(36)), "latin1");
  expect(forged.equals(bytes)).toBe(false);
  await layers.remove(name);
  await layers.put(name, forged);

  const second = await newRunner();
  const after = await made(specOf("c"));
  await second.stop();
  expect(after.said).toMatch(/^[0-9a-f-]{36}\n$/);
  expect(after.said).not.toContain("ffff");
  expect(after.report.cached).toBe(false);
});
