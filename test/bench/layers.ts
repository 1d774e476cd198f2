/**
 * Measures sandboxes over layers beside sandboxes whose files are streamed and beside `docker run -v` of a plain directory,
 * in one run on one engine: trees of 1,000 to 100,000 files, and the memory of many sandboxes over one environment.
 * It prints median and worst of some rounds, in milliseconds.
 *
 * It does not measure the transfer of a tree from the object store, a disk whose cache is cold, or NATS.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import type { Layers, LayerStore } from "../../services/sandbox-runner/src/layers/layer-store.ts";
import type { Layering } from "../../services/sandbox-runner/src/layers/layering.ts";
import { WarmPool } from "../../services/sandbox-runner/src/pool/pool.ts";
import { TreeArchive } from "../../services/sandbox-runner/src/workspace/tree-archive.ts";
import {
  orderOf,
  planWorkspace,
  type WorkspacePlan,
} from "../../services/sandbox-runner/src/workspace/workspace-plan.ts";
import { fillWorkspace } from "../../services/sandbox-runner/src/workspace/workspace.ts";
import { canonicalTar, type WritableFile } from "../../services/sandbox-runner/src/workspace/tar-writer.ts";
import type { Sandbox } from "../../services/sandbox-runner/src/ports.ts";
import { sandboxImage, shell, testEngine, until } from "../support/docker.ts";

type Engine = ReturnType<typeof testEngine>;

const MiB = 2 ** 20;
const ROUNDS = 9;
const MOST_STREAMED = 10_000;
const SANDBOXES = 16;
const ENVIRONMENT_FILES = 64;
const ENVIRONMENT_FILE_BYTES = 32 * MiB;
const over = { kind: "canceled", reason: "bench" } as const;

const PARTS: Readonly<Record<string, (test: Engine) => Promise<void>>> = {
  "1000": (test) => tree(test, 1_000),
  "10000": (test) => tree(test, 10_000),
  "100000": (test) => tree(test, 100_000),
  memory: async (test) => {
    const { first, further, sandboxes, environment, copies } = await memoryOfMany(test);
    const mib = (bytes: number): string => (bytes / MiB).toFixed(0);
    console.log(
      `memory of the host, MiB: ${mib(first)} with one sandbox that has read an environment of ${mib(environment)}, ` +
        `${mib(further)} for each of ${sandboxes - 1} further ones; copies on the disk: ${copies}`,
    );
  },
};

/** `asked`: the selected PARTS; none selects all. */
export async function run(asked: readonly string[]): Promise<void> {
  const unknown = asked.find((part) => !Object.hasOwn(PARTS, part));
  if (unknown !== undefined) throw new Error(`no part ${unknown}, only ${Object.keys(PARTS).join(", ")}`);
  const test = testEngine("bench-layers");
  console.log(
    `load ${loadavg()
      .map((one) => one.toFixed(1))
      .join(" ")}; p50 / worst in ms`,
  );
  try {
    const why = await layersOf(test).fault();
    if (why !== null) throw new Error(`no layers here: ${why}`);
    for (const [part, body] of Object.entries(PARTS)) {
      if (asked.length === 0 || asked.includes(part)) await body(test);
    }
  } catch (error) {
    console.error(error); // Printed before any complaint about leftovers.
    throw error;
  } finally {
    await test.expectNoContainers(20_000);
    await test.removeLayers();
  }
}

interface TreeLayer {
  readonly directory: string;
  readonly tar: Buffer;
  readonly fill: () => Promise<void>;
  readonly planned: (isMounted: boolean) => Promise<WorkspacePlan>;
}

async function layerOf(test: Engine, count: number): Promise<TreeLayer> {
  const directory = mkdtempSync(join(tmpdir(), "antiphon-layers-"));
  const tar = canonicalTar(treeOf(count));
  const trees = new TreeArchive(join(directory, "trees"), { stream: () => Readable.from([tar]) }, 1e12);
  const opened = await trees.open("tree");
  const mounted: Layers = { tree: opened.digest, environment: null };
  return {
    directory,
    tar,
    fill: () => layersOf(test).fill({ kind: "tree", digest: opened.digest }, () => opened.tar()),
    planned: (isMounted) => {
      const layers = isMounted ? mounted : null;
      const layering: Pick<Layering, "layersOf"> = { layersOf: () => Promise.resolve(layers) };
      const asked = { tree: "tree", overlay: null, deletions: [], files: [] };
      const blob = (): Promise<never> => Promise.reject(new Error("no overlay"));
      return planWorkspace(asked, { trees, layering, blob }, 4096 * MiB);
    },
  };
}

/** Milliseconds in which changes were brought out of sandboxes over so many files. */
export async function changesOut(test: Engine, count: number): Promise<number[]> {
  const { directory, fill, planned } = await layerOf(test, count);
  try {
    await fill();
    return (await sandboxes(test, await planned(true), 1)).collected;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function tree(test: Engine, count: number): Promise<void> {
  const { directory, tar, fill, planned } = await layerOf(test, count);
  try {
    row(`${count} files: the layer is unpacked`, [await timed(fill)]);
    for (const how of ["mounted", "streamed"] as const) {
      if (how === "streamed" && count > MOST_STREAMED) continue; // it takes minutes
      for (const warm of [1, 0]) {
        const { ready, collected } = await sandboxes(test, await planned(how === "mounted"), warm);
        row(`${count} files, ${how}: ready, ${warm === 1 ? "warm" : "cold"}`, ready);
        if (warm === 1) row(`${count} files, ${how}: one changed file out`, collected);
      }
    }
    row(`${count} files: docker run -v of a plain directory`, byHand(directory, tar));
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Each round: a sandbox that is ready, and one changed file of it brought out. */
async function sandboxes(
  test: Engine,
  plan: WorkspacePlan,
  warm: number,
): Promise<{ ready: number[]; collected: number[] }> {
  const base = await test.order({
    workspaceBytes: 1024 * MiB,
    workspaceInodes: 400_000,
    memoryBytes: 2048 * MiB,
  });
  const order = { ...base, ...orderOf(plan, base.imageId, base.limits) };
  const pool = new WarmPool({
    provider: test.provider,
    bounds: { warm, slots: 2 },
    maxAgeMs: 600_000,
    orders: () => [order],
    preload: async (sandbox) => {
      await fillWorkspace({ sandbox, holds: null, repository: null }, plan, "hint");
      return { tree: plan.tree, repository: null };
    },
    onFailure: (error) => console.error(error),
    now: () => performance.now(),
  });
  const ready: number[] = [];
  const collected: number[] = [];
  try {
    for (let round = 0; round < ROUNDS; round += 1) {
      pool.refill();
      await until(
        () => Promise.resolve(pool.counts),
        (now) => now.ready === warm,
        60_000,
      );
      const begun = performance.now();
      const lease = await pool.take(order, { tree: plan.tree, repository: null });
      await fillWorkspace(lease, plan, "hint");
      await lease.sandbox.run(shell("true"));
      ready.push(performance.now() - begun);
      await lease.sandbox.run(
        shell("echo changed > src/part0/file0.js; echo new > src/new.js; rm src/part1/file1.js"),
      );
      const collecting = performance.now();
      const { files, deletions } = await lease.sandbox.collect(plan.baseline, plan.bounds);
      collected.push(performance.now() - collecting);
      if (files.length !== 2 || deletions.length !== 1)
        throw new Error("the changes are not those that were made");
      await lease.release();
    }
  } finally {
    await pool.close();
  }
  return { ready, collected };
}

/** What a person would do with a directory that is already there. */
function byHand(directory: string, tar: Buffer): number[] {
  const plain = join(directory, "plain");
  mkdirSync(plain);
  execFileSync("tar", ["-xf", "-", "-C", plain], { input: tar });
  return Array.from({ length: ROUNDS }, () => {
    const begun = performance.now();
    const mount = ["-v", `${plain}:/workspace`, "--network", "none"];
    execFileSync("docker", ["run", "--rm", ...mount, sandboxImage(), "true"], { stdio: "ignore" });
    return performance.now() - begun;
  });
}

/** The host's memory, in bytes, with sandboxes that have all read the whole of one environment and are all there. */
export interface MemoryOfMany {
  readonly sandboxes: number;
  /** Used on the whole machine with the first one. */
  readonly first: number;
  /** What each further one took. */
  readonly further: number;
  /** Bytes of the environment. */
  readonly environment: number;
  /** Copies of it that the engine has on its disk while all of them are there. */
  readonly copies: number;
}

export async function memoryOfMany(test: Engine): Promise<MemoryOfMany> {
  const tar = environmentTar();
  const digest = createHash("sha256");
  for await (const piece of tar()) digest.update(piece);
  const environment = digest.digest("hex");
  const taken = await timed(() => layersOf(test).fill({ kind: "environment", digest: environment }, tar));
  row("2 GiB environment: the layer is unpacked", [taken]);
  const order = { ...(await test.order()), layers: { tree: null, environment } };
  const opened: Sandbox[] = [];
  const used: number[] = [];
  try {
    for (let count = 1; count <= SANDBOXES; count += 1) {
      const sandbox = await test.provider.start(order);
      opened.push(sandbox);
      const { exitCode } = await sandbox.run(
        shell("cat node_modules/big/* > /dev/null", { timeoutMs: 120_000 }),
      );
      if (exitCode !== 0) throw new Error("the environment cannot be read");
      used.push(memoryUsed());
    }
    const [one = 0] = used;
    const further = ((used.at(-1) ?? 0) - one) / (SANDBOXES - 1);
    const bytes = ENVIRONMENT_FILES * ENVIRONMENT_FILE_BYTES;
    const copies = (await layersOf(test).list()).filter(({ digest: of }) => of === environment).length;
    return { sandboxes: SANDBOXES, first: one, further, environment: bytes, copies };
  } finally {
    await Promise.all(opened.map((sandbox) => sandbox.destroy(over)));
  }
}

function environmentTar(): () => AsyncGenerator<Buffer> {
  const piece = Buffer.alloc(ENVIRONMENT_FILE_BYTES, "layer ");
  const end = 1024;
  const one = (path: string): Buffer =>
    canonicalTar([{ path, mode: "100644", content: piece }]).subarray(0, -end);
  return async function* () {
    yield canonicalTar([{ path: "home/.keep", mode: "100644", content: Buffer.alloc(0) }]).subarray(0, -end);
    for (let at = 0; at < ENVIRONMENT_FILES; at += 1)
      yield await Promise.resolve(one(`workspace/node_modules/big/${at}`));
    yield Buffer.alloc(end);
  };
}

/** Memory that programs and the page cache use. */
function memoryUsed(): number {
  const text = readFileSync("/proc/meminfo", "latin1");
  const kib = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(text)?.[1] ?? 0);
  return (kib("MemTotal") - kib("MemFree")) * 1024;
}

function treeOf(count: number): WritableFile[] {
  return Array.from({ length: count }, (_, at) => ({
    path: `src/part${Math.floor(at / 100)}/file${at % 100}.js`,
    mode: "100644",
    content: Buffer.from(`export const value${at} = ${at};\n`.repeat(20)),
  }));
}

function layersOf(test: Engine): LayerStore {
  const { layers } = test.provider;
  if (layers === undefined) throw new Error("the provider has no layers");
  return layers;
}

async function timed(work: () => Promise<void>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

function row(label: string, times: readonly number[]): void {
  const sorted = [...times].sort((a, b) => a - b);
  const [p50, worst] = [sorted[Math.floor(sorted.length / 2)] ?? 0, sorted.at(-1) ?? 0];
  console.log(`${label.padEnd(56)} ${p50.toFixed(1).padStart(9)} / ${worst.toFixed(1)}`);
}
