/**
 * The drill of docs/guides/backup.md: the state is copied, work goes on, the state is lost, the copy is put back. What the
 * copy holds is whole and goes on; what came later is gone from the journal and still in git.
 */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "./support/program.ts";
import { BROKEN_CALCULATOR, CHECK, FIX, makeProject, type Project } from "./support/project.ts";
import { startQuickStack, type Stack } from "./support/stack.ts";

const ANN = "ann-s-own-s3cret";
const BEN = "ben-s-own-s3cret";
const PEOPLE = { ANTIPHON_TOKEN: "deployment-s3cret", ANTIPHON_TOKENS: `ann:${ANN},ben:${BEN}` };

let dir: string;
let stateDir: string;
let stack: Stack;
const projects: Project[] = [];

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "antiphon-backup-"));
  stateDir = join(dir, "state");
});
afterAll(async () => {
  await stack.stop();
  for (const project of projects) project.remove();
  rmSync(dir, { recursive: true, force: true });
});

const as = (token: string): { env: Record<string, string> } => ({ env: { ANTIPHON_TOKEN: token } });
const begin = async (): Promise<void> => {
  stack = await startQuickStack({ stateDir, env: PEOPLE });
};

async function fix(...options: string[]): Promise<{ runId: string; project: Project }> {
  const project = makeProject(BROKEN_CALCULATOR);
  projects.push(project);
  const words = ["run", "Fix add", "--repo", project.path, "--command", FIX, "--check", CHECK, ...options];
  const { document } = await stack.json<{ runId: string }>(words, as(ANN));
  return { runId: document.runId, project };
}

const statusOf = async (runId: string): Promise<unknown> =>
  (await stack.json(["get", runId], as(ANN))).document["status"];

/** The files of an export with their contents. */
async function evidenceOf(runId: string, to: string): Promise<Record<string, string>> {
  const exported = await stack.antiphon(["evidence", "export", runId, "--out", join(dir, to)], as(ANN));
  expect(exported).toMatchObject({ code: 0 });
  const files = readdirSync(join(dir, to), { recursive: true, withFileTypes: true }).filter((one) =>
    one.isFile(),
  );
  const texts = files.map(({ parentPath, name }) => join(parentPath, name));
  return Object.fromEntries(
    texts.map((path) => [relative(join(dir, to), path), readFileSync(path, "base64")]),
  );
}

const journal = (): ReturnType<Stack["antiphon"]> => stack.antiphon(["doctor", "--journal"], as(ANN));

test("a lost state is restored from a copy: the journal is whole, evidence complete, and waiting runs go on", async () => {
  await begin();
  const ended = await fix();
  const waiting = await fix("--require-approval");
  const decidedLater = await fix("--require-approval");
  const evidence = await evidenceOf(ended.runId, "before");
  expect(Object.keys(evidence).length).toBeGreaterThan(5);
  await stack.stop();
  cpSync(stateDir, join(dir, "copy"), { recursive: true, preserveTimestamps: true });

  await begin();
  const late = await fix();
  expect(late.project.landed(late.runId)).toHaveLength(1);
  expect((await stack.antiphon(["approve", decidedLater.runId], as(BEN))).code).toBe(0);
  expect((await stack.antiphon(["wait", decidedLater.runId], as(ANN))).code).toBe(0);
  const [landed] = decidedLater.project.landed(decidedLater.runId);
  expect(landed).toBeDefined();
  await stack.stop();
  rmSync(stateDir, { recursive: true });

  cpSync(join(dir, "copy"), stateDir, { recursive: true, preserveTimestamps: true });
  await begin();
  expect(await journal()).toMatchObject({ code: 0 });
  expect(await statusOf(ended.runId)).toBe("succeeded");
  expect(await evidenceOf(ended.runId, "after")).toEqual(evidence);

  // The run that waited when the copy was made goes on, with the keys of the copy.
  expect(await statusOf(waiting.runId)).toBe("waiting_input");
  expect((await stack.antiphon(["approve", waiting.runId], as(BEN))).code).toBe(0);
  expect((await stack.antiphon(["wait", waiting.runId], as(ANN))).code).toBe(0);
  expect(waiting.project.landed(waiting.runId)).toHaveLength(1);

  // Its approval is lost, its commit is not: approved once more, the run ends at the commit that had landed.
  expect(await statusOf(decidedLater.runId)).toBe("waiting_input");
  expect((await stack.antiphon(["approve", decidedLater.runId], as(BEN))).code).toBe(0);
  expect((await stack.antiphon(["wait", decidedLater.runId], as(ANN))).code).toBe(0);
  expect(decidedLater.project.landed(decidedLater.runId)).toEqual([landed]);

  // The run that began after the copy is unknown; its branch is still there.
  expect((await stack.antiphon(["get", late.runId], as(ANN))).stderr).toContain("ANT_RUN_NOT_FOUND");
  expect(late.project.landed(late.runId)).toHaveLength(1);

  const fresh = await fix();
  expect(await statusOf(fresh.runId)).toBe("succeeded");
  expect(await journal()).toMatchObject({ code: 0 });
});

test("a copy with a paused nats-server while runs are under way disturbs none, and those of the copy go on from it", async () => {
  const busy = [makeProject(BROKEN_CALCULATOR), makeProject(BROKEN_CALCULATOR)];
  projects.push(...busy);
  // Each waits in its sandbox for the copy at least.
  const slow = busy.map(({ path }) =>
    stack.json<{ runId: string; status: string }>(
      ["run", "Fix add", "--repo", path, "--command", `sleep 6; ${FIX}`, "--check", CHECK],
      as(ANN),
    ),
  );
  type Runs = { runs: { status: string }[] };
  await eventually("both attempts run", async () => {
    const { document } = await stack.json<Runs>(["runs", "--status", "running"], as(ANN));
    return document.runs.length === 2 || null;
  });
  const nats = Number(readFileSync(join(stateDir, "run/nats.pid"), "utf8"));
  process.kill(nats, "SIGSTOP");
  try {
    cpSync(stateDir, join(dir, "hot-copy"), { recursive: true, preserveTimestamps: true });
  } finally {
    process.kill(nats, "SIGCONT");
  }
  const ended = await Promise.all(slow);
  expect(ended.map(({ document }) => document.status)).toEqual(["succeeded", "succeeded"]);
  const landed = ended.map(({ document }, at) => busy[at]?.landed(document.runId));
  expect(landed.map((commits) => commits?.length)).toEqual([1, 1]);
  await stack.stop();
  rmSync(stateDir, { recursive: true });
  // As if the server had been lost before this one landed.
  const [after, before] = ended.map(({ document }) => document.runId) as [string, string];
  busy[1]?.git("update-ref", "-d", `refs/heads/antiphon/${before}`);

  cpSync(join(dir, "hot-copy"), stateDir, { recursive: true, preserveTimestamps: true });
  await begin();
  const again = async (runId: string) =>
    JSON.parse((await stack.antiphon(["wait", runId, "--json"], as(ANN))).stdout) as Record<string, unknown>;
  expect(await again(before)).toMatchObject({ status: "succeeded" });
  expect(busy[1]?.landed(before)).toHaveLength(1);
  // What landed after the copy is never replaced: the attempt is made once more, and its landing is refused.
  expect(await again(after)).toMatchObject({ status: "failed", code: "ANT_LANDING_HEAD_MOVED" });
  expect(busy[0]?.landed(after)).toEqual(landed[0]);
  expect(await journal()).toMatchObject({ code: 0 });
});
