/**
 * Sandboxes beside the plain way to do the same through dockerode, in one run on one engine: getting ready, one more
 * command, many at once, files in and out. Medians and worst of some rounds, in milliseconds.
 *
 * It does not measure a cold image, an engine under other load (run it alone), or NATS: jobs over RPC are in
 * `main-job`.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import Docker from "dockerode";
import { createHash } from "node:crypto";
import type { BaselineEntry } from "../../services/sandbox-runner/src/core/collected.ts";
import { canonicalTar } from "../../services/sandbox-runner/src/core/tar-writer.ts";
import { WarmPool } from "../../services/sandbox-runner/src/adapters/pool.ts";
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

export async function run(): Promise<void> {
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
    await readiness(test, docker);
    await commands(test, docker);
    await atOnce(test);
    await sustained(test, docker);
    await files(test, 1_000, "in <= 90, out <= 60");
    await files(test, 5_000, "");
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
    order: () => order,
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
    order: () => order,
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
  waits.sort((a, b) => a - b);
  const p99 = waits[Math.ceil(waits.length * 0.99) - 1] ?? 0;
  console.log(
    `attempts at concurrency 8: ${ours.toFixed(1)}/s; the engine alone: ${plain.toFixed(1)}/s; ` +
      `ratio ${(ours / plain).toFixed(2)} (goal >= 0.9); wait for a sandbox, p99: ${p99.toFixed(0)} ms`,
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

async function files(test: Engine, count: number, goal: string): Promise<void> {
  const content = (i: number): Buffer => Buffer.from(`export const value${i} = ${i};\n`.repeat(30));
  const tree = Array.from({ length: count }, (_, i) => ({
    path: `src/part${i % 40}/file${i}.js`,
    mode: "100644" as const,
    content: content(i),
  }));
  const tar = canonicalTar(tree);
  const baseline = new Map<string, BaselineEntry>(
    tree.map(({ path, mode, content: bytes }) => {
      const sha256 = createHash("sha256").update(bytes).digest("hex");
      return [path, { kind: "file", mode, size: bytes.length, sha256 }];
    }),
  );
  const bounds = { maxEntries: 20_000, maxFiles: 2_000, maxBytes: 64 * 1024 * 1024 };
  const out: number[] = [];
  const order = await test.order();
  const into = await measure(7, async () => {
    const sandbox = await test.provider.start(order);
    const started = performance.now();
    await sandbox.putTar(tar);
    const took = performance.now() - started;
    await sandbox.run(shell("echo changed > src/part0/file0.js"));
    const collecting = performance.now();
    const { files: changed } = await sandbox.collect(baseline, bounds);
    out.push(performance.now() - collecting);
    if (changed.length !== 1) throw new Error(`${changed.length} files changed, not 1`);
    await sandbox.destroy(over);
    return took;
  });
  out.sort((a, b) => a - b);
  row(`${count} files in (${(tar.length / 1e6).toFixed(1)} MB)`, into, null, goal);
  row(
    `${count} files compared, the changed one out`,
    { p50: out[Math.floor(out.length / 2)] ?? 0, worst: out.at(-1) ?? 0 },
    null,
    "",
  );
}
