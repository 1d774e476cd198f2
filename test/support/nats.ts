import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, connect as dial } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Bus, BusOptions } from "../../runtime/src/index.ts";
import { connectBus, createLogger, unsafeTrust } from "../../runtime/src/index.ts";
import { patient } from "./patience.ts";

/**
 * A real nats-server for one test file: loopback, free ports, its own temp dir, fsync before each acknowledgement.
 * `close` fails the test if something was left behind on the server.
 */
export interface NatsServer {
  url: string;
  monitorUrl: string;
  port: number;
  dir: string;
  pid(): number;
  running(): boolean;
  /** `kill -9`. The store remains. */
  kill(): Promise<void>;
  /** SIGTERM and wait. The store remains. */
  stop(): Promise<void>;
  /** Starts it again on the same ports and store. */
  restart(): Promise<void>;
  pause(): void;
  resume(): void;
  connect(options?: Partial<BusOptions>): Promise<Bus>;
  /** Number of subscriptions of all clients; a forgotten `unsubscribe` raises it. */
  subscriptions(): Promise<number>;
  /** Consumers that are neither durable nor expected, which are leaks. */
  leakedConsumers(): Promise<string[]>;
  close(options?: { checkLeaks?: boolean }): Promise<void>;
}

export interface NatsServerOptions {
  /** `always` (default) or `lazy`, the server's own default that acknowledges before it fsyncs. */
  sync?: "always" | "lazy";
  /** Lets clients ask for the sync mode over NATS. Default true. */
  tellsDurability?: boolean;
  maxFileStore?: string;
  /** Parent of its directory. Default: the system's place for temporary files. */
  parent?: string;
  /** Path of the store, if it is outside its directory. */
  storeDir?: string;
  /** Serves Go's profiles (`/debug/pprof`) on a free port of loopback. */
  profilePort?: number;
  /** A `tls` block of its configuration, as text. */
  tls?: string;
}

export function natsServerBinary(): string {
  const local = fileURLToPath(new URL("../../.antiphon/tools/nats-server", import.meta.url));
  const binary = process.env["NATS_SERVER_BIN"] ?? (existsSync(local) ? local : "nats-server");
  return binary;
}

export async function startNats(options: NatsServerOptions = {}): Promise<NatsServer> {
  const dir = mkdtempSync(join(options.parent ?? tmpdir(), "antiphon-nats-"));
  const configFile = join(dir, "nats.conf");
  const [first, [port = 0, monitorPort = 0]] = await onFreePorts(2, ([own = 0, monitor = 0]) => {
    writeFileSync(configFile, serverConfig(dir, own, monitor, options));
    return launch(configFile, own);
  });
  let child = first;
  // A test file that ends without its `afterAll` must leave no server behind.
  const onExit = (): void => void child.kill("SIGKILL");
  process.once("exit", onExit);
  const buses = new Set<Bus>();
  const end = (signal: NodeJS.Signals): Promise<void> => endOf(child, signal);

  const monitorUrl = `http://127.0.0.1:${monitorPort}`;
  const server: NatsServer = {
    url: `nats://127.0.0.1:${port}`,
    monitorUrl,
    port,
    dir,
    pid: () => child.pid ?? 0,
    running: () => child.exitCode === null && child.signalCode === null,
    kill: () => end("SIGKILL"),
    stop: () => end("SIGTERM"),
    async restart() {
      child = await launch(configFile, port);
    },
    pause() {
      child.kill("SIGSTOP");
      untilStopped(child.pid ?? 0);
    },
    resume: () => void child.kill("SIGCONT"),
    async connect(overrides = {}) {
      const bus = await connectBus({
        servers: `nats://127.0.0.1:${port}`,
        name: "test",
        log: createLogger("test", { level: "silent" }),
        trust: unsafeTrust, // Most tests are not about signatures.
        ...overrides,
      });
      buses.add(bus);
      return bus;
    },
    async subscriptions() {
      const answer = await fetch(`${monitorUrl}/connz?subs=true`);
      const connz = (await answer.json()) as { connections: { subscriptions: number }[] };
      return connz.connections.reduce((sum, connection) => sum + connection.subscriptions, 0);
    },
    leakedConsumers: () => leakedConsumers(monitorUrl),
    async close({ checkLeaks = true } = {}) {
      await Promise.all([...buses].map((bus) => bus.close()));
      const running = child.exitCode === null && child.signalCode === null;
      const leaked = checkLeaks && running ? await leakedConsumers(monitorUrl) : [];
      await end("SIGKILL");
      process.off("exit", onExit);
      rmSync(dir, { recursive: true, force: true });
      if (leaked.length > 0) throw new Error(`consumers left on the server: ${leaked.join(", ")}`);
    },
  };
  return server;
}

function serverConfig(dir: string, port: number, monitorPort: number, options: NatsServerOptions): string {
  const sync = options.sync === "lazy" ? "2m" : "always";
  return `
listen: "127.0.0.1:${port}"
http: "127.0.0.1:${monitorPort}"
server_name: test
${options.tls ?? ""}
max_payload: 8MB
${options.profilePort === undefined ? "" : `prof_port: ${options.profilePort}`}
jetstream { store_dir: "${options.storeDir ?? join(dir, "store")}", sync_interval: ${sync}${options.maxFileStore === undefined ? "" : `, max_file_store: ${options.maxFileStore}`} }
${accountsConfig(options.tellsDurability !== false)}`;
}

/**
 * A client without credentials is user `ant`. `tells`: clients may ask for the sync mode over NATS. Each server of a
 * cluster answers for itself, so the answer is a stream.
 */
export function accountsConfig(tells = true): string {
  const jsz = "$SYS.REQ.SERVER.PING.JSZ";
  return `
accounts {
  SYS: { users: [ { user: sys, password: sys } ]${tells ? `, exports: [ { service: "${jsz}", response: stream } ]` : ""} }
  ANT: { jetstream: enabled, users: [ { user: ant, password: ant } ]${tells ? `, imports: [ { service: { account: SYS, subject: "${jsz}" } } ]` : ""} }
}
system_account: SYS
no_auth_user: ant
`;
}

/** Ends a server by a signal, even if it is paused, and waits for it. */
export async function endOf(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  child.kill("SIGCONT");
  child.kill(signal);
  await ended;
}

/** The signal stops one thread, which then stops the others; on a busy machine they keep running for a moment. */
function untilStopped(pid: number): void {
  const until = Date.now() + 5_000;
  const isStopped = (task: string): boolean =>
    / [Tt] /.test(readFileSync(`/proc/${pid}/task/${task}/stat`, "utf8").slice(0, 64));
  while (!readdirSync(`/proc/${pid}/task`).every(isStopped)) {
    if (Date.now() > until) throw new Error(`process ${pid} does not stop`);
  }
}

export async function launch(configFile: string, port: number): Promise<ChildProcess> {
  const child = spawn(natsServerBinary(), ["-c", configFile], { stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  child.stderr.on("data", (data: Buffer) => {
    said = (said + data.toString()).slice(-4000);
  });
  let failure: Error | null = null;
  child.once("error", (error) => (failure = error));
  const until = Date.now() + 15_000;
  while (Date.now() < until) {
    if (failure !== null) throw new Error(`nats-server cannot be started: ${String(failure)}`);
    if (child.exitCode !== null && said.includes("address already in use")) throw new PortTaken(said);
    if (child.exitCode !== null) throw new Error(`nats-server ended at once:\n${said}`);
    if (said.includes("Server is ready") && (await answers(port))) return child;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  child.kill("SIGKILL");
  throw new Error(`nats-server did not get ready:\n${said}`);
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = dial(port, "127.0.0.1");
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}

class PortTaken extends Error {
  override readonly name = "PortTaken";
}

/** Starts a process on free ports; if another process was faster there, on other ports. */
export async function onFreePorts<T>(
  count: number,
  start: (ports: number[]) => Promise<T>,
): Promise<[T, number[]]> {
  for (let attempt = 1; ; attempt += 1) {
    const ports = await freePorts(count);
    try {
      return [await start(ports), ports];
    } catch (error) {
      if (!(error instanceof PortTaken) || attempt === 5) throw error;
    }
  }
}

/** Ports that were free a moment ago. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, () => {
      const server = createServer();
      return new Promise<typeof server>((resolve, reject) => {
        server.once("error", reject);
        server.listen(0, "127.0.0.1", () => resolve(server));
      });
    }),
  );
  const ports = servers.map((server) => {
    const address = server.address();
    return typeof address === "object" && address !== null ? address.port : 0;
  });
  await Promise.all(servers.map((server) => new Promise((done) => server.close(done))));
  return ports;
}

interface JszConsumer {
  name: string;
  config?: { durable_name?: string };
}

async function leakedConsumers(monitorUrl: string): Promise<string[]> {
  const answer = await fetch(`${monitorUrl}/jsz?accounts=true&streams=true&consumers=true&config=true`);
  const jsz = (await answer.json()) as {
    account_details?: { stream_detail?: { name: string; consumer_detail?: JszConsumer[] }[] }[];
  };
  const streams = (jsz.account_details ?? []).flatMap((account) => account.stream_detail ?? []);
  return streams.flatMap((stream) =>
    (stream.consumer_detail ?? [])
      .filter((consumer) => consumer.config?.durable_name === undefined)
      .map((consumer) => `${stream.name} > ${consumer.name}`),
  );
}

/** Polls a condition until it holds; throws with its name at the deadline. */
export async function eventually(
  what: string,
  condition: () => boolean | Promise<boolean>,
  deadlineMs = 20_000,
): Promise<void> {
  const until = Date.now() + patient(deadlineMs);
  while (!(await condition())) {
    if (Date.now() > until) throw new Error(`not within ${deadlineMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
