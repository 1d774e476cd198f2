/**
 * The processes under load: the NATS (servers.ts), and one process per service, bundled
 * as they ship. With `--sandbox docker` it is `antiphon dev` as users have it.
 */
import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { connectBus, createLogger, provision, readNatsUser, unsafeTrust } from "@antiphon/runtime";
import type { Bus, NatsUser } from "@antiphon/runtime";
import { startStack } from "../e2e/support/stack.ts";
import type { LoadOptions } from "./options.ts";
import { startServers } from "./servers.ts";

export interface Processes {
  readonly natsUrl: string;
  readonly gatewayUrl: string | null;
  /** Current pids by name, of the servers and every service process. */
  pids(): ReadonlyMap<string, number>;
  connect(): Promise<Bus>;
  /** `kill -9` of a process, and a new one in its place. */
  replace(name: string): Promise<void>;
  /** Heap in use of a service after a collection of garbage, in MiB. Not for `antiphon dev`. */
  heapMb(name: string): Promise<number>;
  /** The last lines a service has logged, for a failure's report. */
  said(name: string): string;
  stop(): Promise<void>;
}

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const ROUTER_SLOTS = 256;

export async function startProcesses(options: LoadOptions, more: Settings = {}): Promise<Processes> {
  return options.sandbox === "docker" ? startProduct(options) : startRoles(options, more);
}

interface Settings {
  /** Further settings of each service. */
  readonly env?: Readonly<Record<string, string>>;
  /** The services to start. Default: all of them. */
  readonly only?: readonly string[];
}

async function startProduct(options: LoadOptions): Promise<Processes> {
  const stack = await startStack({ associates: options.associates });
  return {
    natsUrl: stack.ready.nats,
    gatewayUrl: stack.ready.gateway,
    pids: () => new Map(Object.keys(stack.ready.pids).map((name) => [name, stack.pid(name)])),
    connect: () =>
      connect(stack.ready.nats, readNatsUser("admin", join(stack.stateDir, "nats-users/admin.nk"))),
    async replace(name) {
      process.kill(stack.pid(name), "SIGKILL"); // `antiphon dev` starts it again.
      await Promise.resolve();
    },
    heapMb: () => Promise.reject(new Error("antiphon dev does not tell the heap of its services")),
    said: () => "",
    stop: () => stack.stop(),
  };
}

function connect(servers: string, user?: NatsUser): Promise<Bus> {
  return connectBus({
    servers,
    ...(user === undefined ? {} : { user }),
    name: "load",
    log: createLogger("load", { level: "silent" }),
    trust: unsafeTrust,
  });
}

interface Child {
  readonly process: ChildProcess;
  readonly ready: Promise<void>;
}

async function startRoles(options: LoadOptions, { env = {}, only }: Settings): Promise<Processes> {
  const dir = mkdtempSync(join(tmpdir(), "antiphon-load-"));
  const script = join(ROOT, ".antiphon", "load", `${process.pid}`, "role.mjs");
  await bundle(script);
  const servers = await startServers(options.servers);
  const { url } = servers;
  const first = await connect(url);
  // Before the services, so that none of them has to.
  await provision(first, {
    ...{ replicas: servers.replicas, partitions: options.partitions },
    probedLeases: options.probedLeases,
  });
  await first.close();
  const children = new Map<string, Child>();
  const gatewayPort = 20_000 + (process.pid % 20_000);
  const gatewayUrl = options.via === "gateway" ? `http://127.0.0.1:${gatewayPort}` : null;
  const launch = (name: string): Promise<void> => {
    const role = name.replace(/-\d+$/, "");
    const slots = role === "router" ? ROUTER_SLOTS : options.slots;
    const profiling = options.profile === null ? [] : ["--cpu-prof", `--cpu-prof-dir=${options.profile}`];
    const child = spawnRole([...profiling, script, role, String(slots)], {
      log: join(dir, `${name}.log`),
      env: {
        ANTIPHON_NATS_URL: url,
        ANTIPHON_LISTEN: `127.0.0.1:${gatewayPort}`,
        ANTIPHON_DIRECTOR_KEY: join(dir, "director-key.pem"),
        ANTIPHON_TRUSTED_KEYS: join(dir, "trusted-keys.json"),
        ANTIPHON_STATE_DIR: dir,
        ...env,
      },
    });
    children.set(name, child);
    return child.ready;
  };
  const names = [
    "router",
    ...Array.from({ length: options.directors }, (_, i) => `director-${i + 1}`),
    ...Array.from({ length: options.associates }, (_, i) => `associate-${i + 1}`),
    ...(gatewayUrl === null ? [] : ["gateway"]),
  ];
  await Promise.all((only ?? names).map(launch));
  const end = async (name: string, signal: NodeJS.Signals): Promise<void> => {
    const child = children.get(name)?.process;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, "exit");
    child.kill(signal);
    await gone;
  };
  return {
    natsUrl: url,
    gatewayUrl,
    pids: () =>
      new Map([
        ...servers.pids(),
        ...[...children].map(([name, child]): [string, number] => [name, child.process.pid ?? 0]),
      ]),
    connect: () => connect(url),
    async replace(name) {
      if (servers.has(name)) return servers.replace(name);
      await end(name, "SIGKILL");
      await launch(name);
    },
    async heapMb(name) {
      const child = children.get(name)?.process;
      if (child === undefined) throw new Error(`no process ${name}`);
      const told = once(child, "message");
      child.send("heap");
      const [mb] = (await told) as [number];
      return mb;
    },
    said: (name) => readFileSync(join(dir, `${name}.log`), "utf8").slice(-2000),
    async stop() {
      await Promise.all([...children.keys()].map((name) => end(name, "SIGTERM")));
      await servers.close();
      rmSync(dir, { recursive: true, force: true });
      rmSync(join(ROOT, ".antiphon", "load", `${process.pid}`), { recursive: true, force: true });
    },
  };
}

/** The settings of the product's own build. */
async function bundle(outfile: string): Promise<void> {
  await build({
    absWorkingDir: ROOT,
    entryPoints: [join(ROOT, "test/load/role.ts")],
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node24",
    minifySyntax: true,
    minifyWhitespace: true,
    logLevel: "error",
    define: { __ANTIPHON_VERSION__: '"load"' },
    banner: { js: 'import{createRequire as __cr}from"node:module";const require=__cr(import.meta.url);' },
  });
}

function spawnRole(args: readonly string[], where: { log: string; env: Record<string, string> }): Child {
  const log = openSync(where.log, "a");
  const child = spawn(process.execPath, args, {
    stdio: ["ignore", "ignore", log, "ipc"],
    env: { ...process.env, ANTIPHON_LOG_LEVEL: "info", ...where.env },
  });
  closeSync(log);
  const onExit = (): void => void child.kill("SIGKILL"); // A load that is interrupted leaves no process behind.
  process.once("exit", onExit);
  child.once("exit", () => process.off("exit", onExit));
  const ready = new Promise<void>((resolve, reject) => {
    child.once("message", () => resolve());
    child.once("exit", () =>
      reject(
        new Error(`a service ended before it was ready:\n${readFileSync(where.log, "utf8").slice(-2000)}`),
      ),
    );
  });
  return { process: child, ready };
}
