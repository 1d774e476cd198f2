/**
 * The guide docs/guides/upgrade.md, performed: services of two releases side by side on one journal with runs in flight, in both
 * directions. The newer release is this tree with the changes of `support/next-release.ts`. With ANTIPHON_UPGRADE_FROM=<commit> the
 * older one is that commit and the newer one this tree.
 */
import type { ChildProcess } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ROLES } from "../../contracts/src/roles.ts";
import { natsServerBinary } from "../support/nats.ts";
import { patient } from "../support/patience.ts";
import { install } from "./support/installation.ts";
import { NEXT_RELEASE } from "./support/next-release.ts";
import { ANTIPHON, ROOT, eventually, exitOf, start } from "./support/program.ts";
import { BROKEN_CALCULATOR, CHECK, FIX, makeProject, type Project } from "./support/project.ts";
import { startStack, type Stack } from "./support/stack.ts";

const dir = mkdtempSync(join(tmpdir(), "antiphon-upgrade-"));
const stateDir = join(dir, "state");
const ANN = { ANTIPHON_TOKEN: "ann-s-own-s3cret" };
const BEN = { ANTIPHON_TOKEN: "ben-s-own-s3cret" };
const PEOPLE = {
  ANTIPHON_TOKEN: "deployment-s3cret",
  ANTIPHON_TOKENS: `ann:${ANN.ANTIPHON_TOKEN},ben:${BEN.ANTIPHON_TOKEN}`,
};
const env = { ...PEOPLE, NATS_SERVER_BIN: natsServerBinary(), ANTIPHON_STATE_DIR: join(ROOT, ".antiphon") };
const projects: Project[] = [];
let older = ANTIPHON;
let newer = ANTIPHON;
let stack: Stack;

interface Run {
  readonly runId: string;
  readonly project: Project;
}
interface Beside {
  readonly processes: readonly ChildProcess[];
  /** The gateway of the newer release. */
  readonly gateway: { readonly env: { readonly ANTIPHON_GATEWAY_URL: string } };
}

beforeAll(() => {
  const from = process.env["ANTIPHON_UPGRADE_FROM"];
  if (from === undefined || from === "") newer = install(join(dir, "next"), null, NEXT_RELEASE);
  else older = install(join(dir, "before"), from);
}, patient(120_000));
afterAll(async () => {
  await stack.stop();
  for (const project of projects) project.remove();
  rmSync(dir, { recursive: true, force: true });
});

const begin = async (program: string): Promise<void> => {
  stack = await startStack({ program, stateDir, env });
};

async function begun(by: { env?: Record<string, string> } = {}, ...options: string[]): Promise<Run> {
  const project = makeProject(BROKEN_CALCULATOR);
  projects.push(project);
  const words = ["run", "Fix add", "--repo", project.path, "--command", FIX, "--check", CHECK, ...options];
  const { code, document } = await stack.json<{ runId: string }>(words, {
    env: { ...ANN, ...by.env },
  });
  expect(document, `${code} ${JSON.stringify(document)}`).toHaveProperty("runId");
  return { runId: document.runId, project };
}

/** Ends well, and its commit is there once. */
async function lands({ runId, project }: Run): Promise<void> {
  const waited = await stack.antiphon(["wait", runId], { env: ANN });
  expect(waited.code, `${waited.stdout}${waited.stderr}`).toBe(0);
  expect(project.landed(runId)).toHaveLength(1);
}

async function approved({ runId }: Run, by: { env?: Record<string, string> } = {}): Promise<void> {
  const said = await stack.antiphon(["approve", runId], { env: { ...BEN, ...by.env } });
  expect(said.code, said.stderr).toBe(0);
}

/** Starts a process of each role of the newer release with the environment of its neighbour. */
async function startBeside(): Promise<Beside> {
  let url: ((found: string) => void) | null = null;
  const found = new Promise<string>((resolve) => (url = resolve));
  const processes = ROLES.map((role) => {
    const name = role === "associate" ? "associate-1" : role;
    const lines = readFileSync(`/proc/${stack.pid(name)}/environ`, "utf8").split("\0");
    const own = Object.fromEntries(lines.map((line) => line.split(/=(.*)/s).slice(0, 2) as [string, string]));
    const process_ = start(process.execPath, [newer, "serve", "--role", role], {
      env: { ...own, ...(role === "gateway" ? { ANTIPHON_LISTEN: "127.0.0.1:0" } : {}) },
    });
    createInterface({ input: process_.stderr! }).on("line", (line) => {
      const heard = line.includes('"listening"') ? /"url":"(http:[^"]+)"/.exec(line)?.[1] : undefined;
      if (role === "gateway" && heard !== undefined) url?.(heard);
    });
    return process_;
  });
  const gateway = { env: { ANTIPHON_GATEWAY_URL: await found } };
  await present(2 * ROLES.length);
  return { processes, gateway };
}

interface Service {
  readonly name: string;
  readonly version: string;
}

const present = (wanted: number): Promise<Service[]> =>
  eventually(
    `${wanted} services`,
    async () => {
      const answer = await stack
        .http("GET", `/services?expect=${wanted}`, undefined, {
          authorization: `Bearer ${ANN.ANTIPHON_TOKEN}`,
        })
        .catch(() => null);
      const services = (answer?.body["services"] ?? []) as Service[];
      return services.length === wanted ? services : null;
    },
    patient(90_000),
  );

async function endBeside({ processes }: Beside): Promise<void> {
  for (const one of processes) one.kill("SIGTERM");
  expect(await Promise.all(processes.map(exitOf))).toEqual(processes.map(() => 0));
}

const several = (by?: { env?: Record<string, string> }): Promise<Run[]> =>
  Promise.all(Array.from({ length: 2 }, () => begun(by)));

const isWhole = async (): Promise<void> => {
  const checked = await stack.antiphon(["doctor", "--journal"], { env: ANN });
  expect(checked.code, `${checked.stdout}${checked.stderr}`).toBe(0);
};

test(
  "two releases work side by side, an older service starts beside newer ones, and the newer ones may leave",
  async () => {
    await begin(older);
    const waiting = await begun({}, "--require-approval");
    const beside = await startBeside();
    const versions = (await present(2 * ROLES.length)).map(({ version }) => version);
    expect(new Set(versions).size).toBe(2);

    const mixed = await Promise.all([several(), several(beside.gateway)]);
    for (const run of mixed.flat()) await lands(run);

    // All older services die at once, with runs in flight, and come back to a server that the newer Director has provisioned.
    const during = Promise.all([begun(beside.gateway), begun(beside.gateway)]);
    const old = ROLES.map((role) => stack.pid(role === "associate" ? "associate-1" : role));
    for (const pid of old) process.kill(pid, "SIGKILL");
    await eventually("older services again", () =>
      ROLES.every((role, i) => stack.pid(role === "associate" ? "associate-1" : role) !== old[i])
        ? true
        : null,
    );
    await present(2 * ROLES.length);
    for (const run of await during) await lands(run);
    await approved(waiting, beside.gateway);
    await lands(waiting);

    // Back to the older release alone: what the newer one has begun goes on.
    const left = await begun(beside.gateway, "--require-approval");
    const under = await begun(beside.gateway);
    await endBeside(beside);
    await lands(under);
    await approved(left);
    await lands(left);
    for (const run of await several()) await lands(run);
    await isWhole();
  },
  patient(240_000),
);

test(
  "the state of a machine moves to the newer release with runs in flight, and back",
  async () => {
    const waiting = await begun({}, "--require-approval");
    await stack.stop();
    await begin(newer);
    await approved(waiting);
    await lands(waiting);
    const later = await begun({}, "--require-approval");
    for (const run of await several()) await lands(run);
    await isWhole();
    await stack.stop();

    await begin(older);
    await approved(later);
    await lands(later);
    for (const run of await several()) await lands(run);
    await isWhole();
  },
  patient(240_000),
);
