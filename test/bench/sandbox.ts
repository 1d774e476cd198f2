/**
 * Measures sandboxes beside plain dockerode calls for the same work, in one run on one engine: start, one more command, many
 * at once, files in and out. It prints median and worst of some rounds, in milliseconds.
 *
 * It does not measure a cold image, an engine under other load (run it alone), or NATS: jobs over RPC are in
 * `main-job`.
 */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import Docker from "dockerode";
import { Preloader } from "../../services/sandbox-runner/src/pool/preloader.ts";
import { WarmPool } from "../../services/sandbox-runner/src/pool/pool.ts";
import { TreeArchive } from "../../services/sandbox-runner/src/workspace/tree-archive.ts";
import { planWorkspace } from "../../services/sandbox-runner/src/workspace/workspace-plan.ts";
import { fillWorkspace } from "../../services/sandbox-runner/src/workspace/workspace.ts";
import { canonicalTar, type WritableFile } from "../../services/sandbox-runner/src/workspace/tar-writer.ts";
import type { Sandbox } from "../../services/sandbox-runner/src/ports.ts";
import { sandboxImage, shell, testEngine, until } from "../support/docker.ts";

const ROUNDS = 15;
const over = { kind: "canceled", reason: "bench" } as const;

interface Figure {
  readonly p50: number;
  readonly worst: number;
}

async function measure(rounds: number, body: () => Promise<number | void>): Promise<Figure> {
  const times: number[] = [];
  for (let round = 0; round < rounds + 1; round += 1) {
    const started = performance.now();
    const own = await body();
    if (round > 0) times.push(own ?? performance.now() - started);
  }
  times.sort((a, b) => a - b);
  return { p50: times[Math.floor(times.length / 2)] ?? 0, worst: times.at(-1) ?? 0 };
}

function row(label: string, ours: Figure, plain: Figure | null, goal: string): void {
  const show = (figure: Figure | null): string =>
    (figure === null ? "-" : `${figure.p50.toFixed(1)} / ${figure.worst.toFixed(1)}`).padStart(18);
  const ratio = plain === null ? "" : `${(plain.p50 / ours.p50).toFixed(1)}x`;
  console.log([label.padEnd(46), show(ours), show(plain), ratio.padStart(8), goal].join("  "));
}

const PARTS: Readonly<Record<string, (test: Engine, docker: Docker) => Promise<void>>> = {
  readiness,
  commands,
  "at-once": atOnce,
  sustained,
  cold: async (test) => {
    await cold(test, 1_000, "<= 90");
    await cold(test, 5_000, "");
  },
  workspace,
};

/** `asked`: the selected PARTS; none selects all. */
export async function run(asked: readonly string[]): Promise<void> {
  const unknown = asked.find((part) => !Object.hasOwn(PARTS, part));
  if (unknown !== undefined) throw new Error(`no part ${unknown}, only ${Object.keys(PARTS).join(", ")}`);
  const test = testEngine("bench");
  const docker = new Docker();
  console.log(
    [
      "".padEnd(46),
      "ours p50 / worst".padStart(18),
      "plain p50 / worst".padStart(18),
      "   ratio",
      "goal",
    ].join("  "),
  );
  try {
    for (const [part, body] of Object.entries(PARTS)) {
      if (asked.length === 0 || asked.includes(part)) await body(test, docker);
    }
  } catch (error) {
    console.error(error); // Printed before any complaint about leftovers.
    throw error;
  } finally {
    await test.expectNoContainers(10_000);
  }
}

type Engine = ReturnType<typeof testEngine>;

async function readiness(test: Engine, docker: Docker): Promise<void> {
  const order = await test.order();
  const pool = new WarmPool({
    provider: test.provider,
    bounds: { warm: 2, slots: 4 },
    maxAgeMs: 600_000,
    orders: () => [order],
    onFailure: (error) => console.error(error),
    now: () => performance.now(),
  });
  const settled = () =>
    until(
      async () => await Promise.resolve(pool.counts.ready),
      (ready) => ready === 2,
      20_000,
    );
  pool.refill();
  const warm = await measure(ROUNDS, async () => {
    await settled();
    const started = performance.now();
    const lease = await pool.take(order);
    await lease.sandbox.run(shell("", { argv: ["true"] }));
    const took = performance.now() - started;
    await lease.release();
    return took;
  });
  await pool.close();
  const cold = await measure(ROUNDS, async () => {
    const started = performance.now();
    const sandbox = await test.provider.start(order);
    await sandbox.run(shell("", { argv: ["true"] }));
    const took = performance.now() - started;
    await sandbox.destroy(over);
    return took;
  });
  const plain = await measure(ROUNDS, async () => {
    const started = performance.now();
    const container = await docker.createContainer({
      Image: sandboxImage(),
      Cmd: ["true"],
      Labels: { "antiphon.instance": test.instance },
    });
    await container.start();
    await container.wait();
    const took = performance.now() - started;
    await container.remove({ force: true });
    return took;
  });
  row("first command, warm pool | docker run", warm, plain, "<= 10 / 40, >= 20x");
  row("first command, cold and hardened | docker run", cold, plain, "");
}

async function commands(test: Engine, docker: Docker): Promise<void> {
  const sandbox = await test.provider.start(await test.order());
  const plain = await docker.createContainer({
    Image: sandboxImage(),
    Cmd: ["sleep", "600"],
    Labels: { "antiphon.instance": test.instance },
  });
  await plain.start();
  const node = async (): Promise<void> => {
    await once(spawn("true"), "exit");
  };
  const ours = await measure(100, async () => {
    await sandbox.run(shell("", { argv: ["true"] }));
  });
  const exec = await measure(30, async () => {
    const command = await plain.exec({ Cmd: ["true"], AttachStdout: true });
    const stream = await command.start({ hijack: true });
    stream.resume();
    await once(stream, "close");
    await command.inspect();
  });
  row("one more command | docker exec", ours, exec, "<= 4 / 10, >= 15x");
  row("one more command | a plain spawn of node", ours, await measure(100, node), "<= 3x slower");
  await plain.remove({ force: true });
  await sandbox.destroy(over);
}

async function atOnce(test: Engine): Promise<void> {
  const order = await test.order();
  const sandboxes: Sandbox[] = [];
  for (let i = 0; i < 8; i += 1) sandboxes.push(await test.provider.start(order));
  const each = 60;
  const started = performance.now();
  await Promise.all(
    sandboxes.map(async (sandbox) => {
      for (let i = 0; i < each; i += 1) await sandbox.run(shell("", { argv: ["true"] }));
    }),
  );
  const perSecond = (sandboxes.length * each * 1000) / (performance.now() - started);
  console.log(`8 sessions at once: ${perSecond.toFixed(0)} commands/s (goal >= 300)`);
  await Promise.all(sandboxes.map((sandbox) => sandbox.destroy(over)));
}

/** Attempts with one command each, from a pool that runs dry, beside the engine's own rate of starting containers. */
async function sustained(test: Engine, docker: Docker): Promise<void> {
  const order = await test.order();
  const total = 48;
  const plain = await inParallel(total, async () => {
    const labels = { "antiphon.instance": test.instance };
    const container = await docker.createContainer({ Image: sandboxImage(), Cmd: ["true"], Labels: labels });
    await container.start();
    await container.wait();
    await container.remove({ force: true });
  });
  const pool = new WarmPool({
    provider: test.provider,
    bounds: { warm: 4, slots: 8 },
    maxAgeMs: 600_000,
    orders: () => [order],
    onFailure: (error) => console.error(error),
    now: () => performance.now(),
  });
  const waits: number[] = [];
  const ours = await inParallel(total, async () => {
    const asked = performance.now();
    const lease = await pool.take(order);
    waits.push(performance.now() - asked);
    await lease.sandbox.run(shell("", { argv: ["true"] }));
    await lease.release();
  });
  await pool.close();
  // So few waits have no p99 of their own: the longest bounds it from above.
  const longest = Math.max(...waits);
  console.log(
    `attempts at concurrency 8: ${ours.toFixed(1)}/s; the engine alone: ${plain.toFixed(1)}/s; ` +
      `ratio ${(ours / plain).toFixed(2)} (goal >= 0.95); ` +
      `wait for a sandbox, longest of ${waits.length}: ${longest.toFixed(0)} ms (goal: p99 <= 1,000)`,
  );
}

/** Pieces of work per second, eight at a time. */
async function inParallel(total: number, work: () => Promise<void>): Promise<number> {
  let begun = 0;
  const started = performance.now();
  const worker = async (): Promise<void> => {
    while (begun < total) {
      begun += 1;
      await work();
    }
  };
  await Promise.all(Array.from({ length: 8 }, worker));
  return (total * 1000) / (performance.now() - started);
}

const CONTENT = (i: number): Buffer => Buffer.from(`export const value${i} = ${i};\n`.repeat(30));

function treeOf(count: number): readonly WritableFile[] {
  return Array.from({ length: count }, (_, i) => ({
    path: `src/part${i % 40}/file${i}.js`,
    mode: "100644" as const,
    content: CONTENT(i),
  }));
}

/** Sends a base tree into an empty sandbox. */
async function cold(test: Engine, count: number, goal: string): Promise<void> {
  const tar = canonicalTar(treeOf(count));
  const order = await test.order();
  const into = await measure(7, async () => {
    const sandbox = await test.provider.start(order);
    const started = performance.now();
    await sandbox.putTar(tar);
    const took = performance.now() - started;
    await sandbox.destroy(over);
    return took;
  });
  row(`${count} files in (${(tar.length / 1e6).toFixed(1)} MB)`, into, null, goal);
}

/** The second and later jobs of a repository: a warm sandbox waits with the base tree in it. */
async function workspace(test: Engine): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "antiphon-bench-"));
  const tree = treeOf(5_000);
  const tar = canonicalTar(tree);
  const trees = new TreeArchive(directory, { stream: () => Readable.from([tar]) }, 1e9);
  const preloader = new Preloader(trees);
  preloader.wanted({ tree: "tree", repository: null, layers: null });
  const order = await test.order();
  const pool = new WarmPool({
    provider: test.provider,
    bounds: { warm: 1, slots: 2 },
    maxAgeMs: 600_000,
    orders: () => [order],
    preload: (...asked) => preloader.preload(...asked),
    onFailure: (error) => console.error(error),
    now: () => performance.now(),
  });
  const files = [{ path: "src/more.js", mode: "100644", encoding: "utf8", content: "more" }] as const;
  const asked = { tree: "tree", overlay: null, deletions: ["src/part1/file1.js"], files: [...files] };
  const out: number[] = [];
  try {
    pool.refill();
    const into = await measure(9, async () => {
      await until(
        () => Promise.resolve(pool.counts.ready),
        (ready) => ready === 1,
        20_000,
      );
      const started = performance.now();
      const layering = { layersOf: () => Promise.resolve(null) }; // streamed
      const sources = { trees, layering, blob: () => Promise.reject(new Error("no overlay")) };
      const plan = await planWorkspace(asked, sources, 64e6);
      const lease = await pool.take(order, plan.wanted);
      await fillWorkspace(lease, plan, "hint");
      const took = performance.now() - started;
      await lease.sandbox.run(shell("echo changed > src/part0/file0.js"));
      const collecting = performance.now();
      const { files: changed } = await lease.sandbox.collect(plan.baseline, plan.bounds);
      out.push(performance.now() - collecting);
      if (changed.length !== 1) throw new Error(`${changed.length} files changed, not 1`);
      await lease.release();
      return took;
    });
    const clone = await clones(directory, tree);
    out.sort((a, b) => a - b);
    const leaving = { p50: out[Math.floor(out.length / 2)] ?? 0, worst: out.at(-1) ?? 0 };
    row("5000 files and one change in, warm | git clone", into, clone, "<= 50, >= 20x");
    row("5000 files compared, the changed one out", leaving, null, "<= 50");
  } finally {
    await pool.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

async function clones(directory: string, tree: readonly WritableFile[]): Promise<Figure> {
  const repo = join(directory, "repo");
  for (const { path, content } of tree) {
    mkdirSync(dirname(join(repo, path)), { recursive: true });
    writeFileSync(join(repo, path), content);
  }
  const git = (...words: string[]): void => {
    execFileSync("git", words, { stdio: "ignore" });
  };
  git("init", "-q", repo);
  git("-C", repo, "add", "-A");
  git("-C", repo, "-c", "user.name=b", "-c", "user.email=b@example.test", "commit", "-qm", "tree");
  return measure(3, async () => {
    const target = join(directory, "clone");
    const started = performance.now();
    git("clone", "-q", `file://${repo}`, target);
    const took = performance.now() - started;
    await rm(target, { recursive: true });
    return took;
  });
}
