/**
 * Runs many attempts at once against a real sandbox-runner process and a real engine, kills the runner and its connections to
 * the engine at random, and then looks for leftovers on the engine and the disk.
 *
 * An attempt is one job over RPC. An attempt that met a kill ends as a lost runner and is counted, not repeated, because only
 * the leftovers matter here.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Docker from "dockerode";
import type { SandboxRequest } from "@antiphon/contracts";
import { sandboxClient } from "@antiphon/runtime";
import { sandboxImage, testEngine, until } from "../../support/docker.ts";
import { startNats } from "../../support/nats.ts";
import { seededRandom } from "./random.ts";
import { builtProgram } from "../../support/built-program.ts";

export interface StormOptions {
  readonly attempts: number;
  readonly concurrency: number;
  readonly seed: number;
  readonly log: (line: string) => void;
}

export interface StormReport {
  readonly attempts: number;
  readonly outcomes: Readonly<Record<string, number>>;
  readonly runnerKills: number;
  readonly connectionKills: number;
  readonly left: {
    readonly containers: number;
    readonly volumes: number;
    readonly networks: number;
    readonly directories: number;
  };
  readonly cleanAfterMs: number;
}

const RUNNER = new URL("../../support/runner-process.ts", import.meta.url);
const CLEAN_WITHIN_MS = 60_000;
/** One kill of either kind per this many attempts. */
const ATTEMPTS_PER_KILL = 15;

export async function storm(options: StormOptions): Promise<StormReport> {
  const random = seededRandom(options.seed);
  const engine = testEngine("storm");
  const docker = new Docker();
  const nats = await startNats();
  const state = mkdtempSync(join(tmpdir(), "antiphon-storm-"));
  const proxy = await engineProxy();
  const before = await inventory(docker, engine.instance);
  const runner = new RunnerProcess(await builtProgram(RUNNER), {
    ANTIPHON_NATS_URL: nats.url,
    ANTIPHON_UNSAFE_TRUST: "1",
    ANTIPHON_STATE_DIR: state,
    ANTIPHON_INSTANCE: engine.instance,
    ANTIPHON_SANDBOX_IMAGE: sandboxImage(),
    ANTIPHON_SANDBOX_SLOTS: String(options.concurrency),
    ANTIPHON_SANDBOX_WARM: "4",
    ANTIPHON_DRAIN_MS: "3000",
    DOCKER_HOST: `unix://${proxy.path}`,
    TMPDIR: state,
  });
  const outcomes: Record<string, number> = {};
  let runnerKills = 0;
  let connectionKills = 0;
  let begun = 0;
  try {
    const bus = await nats.connect();
    const client = sandboxClient(bus, { requester: "storm" });
    const worker = async (): Promise<void> => {
      while (begun < options.attempts) {
        const attempt = (begun += 1);
        if (random() < 1 / ATTEMPTS_PER_KILL) {
          // Alternating, so that a short storm has both.
          if (runnerKills <= connectionKills) runnerKills += await runner.kill();
          else connectionKills += proxy.cut(random);
        }
        const name = await outcomeOf(client, attempt, random);
        outcomes[name] = (outcomes[name] ?? 0) + 1;
        if (attempt % 100 === 0)
          options.log(`${attempt} of ${options.attempts}: ${JSON.stringify(outcomes)}`);
      }
    };
    await Promise.all(Array.from({ length: options.concurrency }, worker));
    await runner.stop();
    const stopped = performance.now();
    const after = await until(
      () => inventory(docker, engine.instance),
      (now) => now.containers === 0 && now.volumes <= before.volumes && now.networks <= before.networks,
      CLEAN_WITHIN_MS,
    );
    const temporary = readdirSync(state).filter((name) => name.startsWith("antiphon-"));
    return {
      attempts: begun,
      outcomes,
      runnerKills,
      connectionKills,
      left: {
        containers: after.containers,
        volumes: Math.max(0, after.volumes - before.volumes),
        networks: Math.max(0, after.networks - before.networks),
        directories: temporary.length,
      },
      cleanAfterMs: performance.now() - stopped,
    };
  } finally {
    await runner.stop();
    await proxy.close();
    await nats.close();
    rmSync(state, { recursive: true, force: true });
    for (const { id } of await engine.containers()) await engine.engine.remove(id);
  }
}

/** What an attempt does: mostly it works, sometimes it is at work for longer, prints a lot, or leaves something running. */
const SCRIPTS = [
  "echo ok > out",
  "sleep 0.3",
  "yes | head -c 2000000",
  "(setsid sleep 60 &); echo bye",
  "exit 3",
];

async function outcomeOf(
  client: ReturnType<typeof sandboxClient>,
  attempt: number,
  random: () => number,
): Promise<string> {
  const script = SCRIPTS[Math.floor(random() * SCRIPTS.length)] ?? "true";
  const request: SandboxRequest = {
    jobId: `storm_${process.pid}_${attempt}`,
    run: "run_aaaaaaaaaaaaaaaaaaaa",
    task: "T-001",
    epoch: attempt,
    purpose: "attempt",
    image: null,
    budgetMs: 30_000,
    workspace: { tree: null, overlay: null, deletions: [], files: [] },
    steps: [{ id: "s", argv: ["sh", "-c", script], env: {}, timeoutMs: 20_000, continueOnFailure: false }],
    collect: true,
  };
  try {
    return (await client.run(request, { signal: AbortSignal.timeout(120_000) })).outcome;
  } catch (error) {
    return (error as { code?: string }).code ?? "ANT_INTERNAL";
  }
}

async function inventory(docker: Docker, instance: string) {
  const filters = { label: [`antiphon.instance=${instance}`] };
  const [containers, volumes, networks] = await Promise.all([
    docker.listContainers({ all: true, filters }),
    docker.listVolumes({ filters }),
    docker.listNetworks({ filters }),
  ]);
  // The engine has removed containers without a name, even if it still lists them (docker-engine.ts).
  const named = containers.filter(({ Names }) => Names.length > 0);
  return { containers: named.length, volumes: volumes.Volumes?.length ?? 0, networks: networks.length };
}

/** The runner as a process that is started again after each kill, as a supervisor would. */
class RunnerProcess {
  readonly #program: string;
  readonly #env: Readonly<Record<string, string>>;
  #child: ChildProcess | null = null;
  #stopped = false;

  constructor(program: string, env: Readonly<Record<string, string>>) {
    this.#program = program;
    this.#env = env;
    this.#start();
  }

  async kill(): Promise<1 | 0> {
    const child = this.#child;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return 0;
    this.#child = null; // A second kill now finds no process, so each death has one restart.
    const gone = once(child, "exit");
    child.kill("SIGKILL");
    await gone;
    this.#start();
    return 1;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    const child = this.#child;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, "exit");
    child.kill("SIGTERM");
    await gone;
  }

  #start(): void {
    if (this.#stopped) return;
    this.#child = spawn(process.execPath, [this.#program], {
      env: { ...process.env, ...this.#env },
      stdio: "ignore",
    });
  }
}

interface EngineProxy {
  readonly path: string;
  /** Cuts about half of the connections that are open; 1 when there were any. */
  cut(random: () => number): 1 | 0;
  close(): Promise<void>;
}

/** A socket in front of the engine's, so that connections can be cut without touching the engine. */
async function engineProxy(): Promise<EngineProxy> {
  const directory = mkdtempSync(join(tmpdir(), "antiphon-proxy-"));
  const path = join(directory, "docker.sock");
  const upstream = (process.env["DOCKER_HOST"] ?? "unix:///var/run/docker.sock").replace(/^unix:\/\//, "");
  const open = new Set<Socket>();
  const server: Server = createServer({ allowHalfOpen: true }, (socket) => {
    const engine = connect({ path: upstream, allowHalfOpen: true });
    open.add(socket);
    for (const [from, to] of [
      [socket, engine],
      [engine, socket],
    ] as const) {
      from.pipe(to);
      from.on("error", () => to.destroy());
      from.on("close", () => {
        to.destroy();
        open.delete(socket);
      });
    }
  });
  server.listen(path);
  await once(server, "listening");
  return {
    path,
    cut: (random) => {
      const chosen = [...open].filter(() => random() < 0.5);
      for (const socket of chosen) socket.destroy();
      return chosen.length > 0 ? 1 : 0;
    },
    close: async () => {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
