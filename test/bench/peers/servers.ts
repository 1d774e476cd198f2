/** The peers' servers: loopback, free ports, temporary directories, ended by pid. */
import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { postgresPrograms, redisProgram, restateBinary } from "./install.ts";

const run = promisify(execFile);
/** PostgreSQL refuses to run as root. */
const NOBODY = 65_534;
const READY_MS = 60_000;

export interface Server {
  readonly port: number;
  stop(): Promise<void>;
}

export async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("no free port");
  return address.port;
}

export async function answers(port: number, child: ChildProcess, said: () => string): Promise<void> {
  for (const until = Date.now() + READY_MS; Date.now() < until; await pause(50)) {
    if (child.exitCode !== null) throw new Error(`ended at once: ${said().slice(-500)}`);
    const open = await new Promise<boolean>((resolve) => {
      const socket = connect(port, "127.0.0.1", () => resolve(true)).on("error", () => resolve(false));
      socket.once("connect", () => socket.destroy());
    });
    if (open) return;
  }
  child.kill("SIGKILL");
  throw new Error(`did not listen within ${READY_MS / 1000} s: ${said().slice(-500)}`);
}

/** A bench that is interrupted leaves no process behind. */
export function endsWithUs(child: ChildProcess): ChildProcess {
  const end = (): void => void child.kill("SIGKILL");
  process.once("exit", end);
  child.once("exit", () => process.off("exit", end));
  return child;
}

async function serve(
  command: string,
  args: readonly string[],
  options: { port: number; dir: string; env?: NodeJS.ProcessEnv; uid?: number; signal?: NodeJS.Signals },
): Promise<Server> {
  const { port, dir, env, uid, signal = "SIGTERM" } = options;
  const user = uid === undefined ? {} : { uid, gid: uid };
  const child = spawn(command, args, {
    cwd: dir,
    env: env ?? process.env,
    stdio: ["ignore", "pipe", "pipe"],
    ...user,
  });
  endsWithUs(child);
  let said = "";
  child.on("error", (error) => (said += error.message));
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (data: Buffer) => (said = (said + data.toString()).slice(-4000)));
  await answers(port, child, () => said);
  return {
    port,
    async stop() {
      if (child.exitCode === null && child.signalCode === null) {
        const gone = once(child, "exit");
        child.kill(signal);
        await gone;
      }
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

export async function redisServer(fsync: "always" | "everysec"): Promise<Server> {
  const { path, env } = await redisProgram();
  const dir = mkdtempSync(join(tmpdir(), "peer-redis-"));
  const port = await freePort();
  const settings = ["--bind", "127.0.0.1", "--port", String(port), "--dir", dir, "--save", ""];
  return serve(path, [...settings, "--appendonly", "yes", "--appendfsync", fsync], { port, dir, env });
}

/** `fsync` and `synchronous_commit` on, as is its default. */
export async function postgresServer(): Promise<Server & { url(database: string): string }> {
  const programs = await postgresPrograms();
  const dir = mkdtempSync(join(tmpdir(), "peer-postgres-"));
  const root = process.getuid?.() === 0;
  if (root) chownSync(dir, NOBODY, NOBODY);
  const user = root ? { uid: NOBODY, gid: NOBODY } : {};
  const data = join(dir, "data");
  await run(
    join(programs, "initdb"),
    ["-D", data, "-U", "peer", "-A", "trust", "-E", "UTF8", "--no-locale"],
    {
      cwd: dir,
      ...user,
    },
  );
  const port = await freePort();
  const settings = [
    "listen_addresses=127.0.0.1",
    `port=${port}`,
    `unix_socket_directories=${dir}`,
    "fsync=on",
  ];
  const flags = [...settings, "synchronous_commit=on", "max_connections=200"].flatMap((one) => ["-c", one]);
  const server = await serve(join(programs, "postgres"), ["-D", data, ...flags], {
    port,
    dir,
    signal: "SIGINT",
    ...(root ? { uid: NOBODY } : {}),
  });
  const where = ["-h", "127.0.0.1", "-p", String(port)];
  // It listens before it is ready.
  for (const until = Date.now() + READY_MS; Date.now() < until; await pause(50)) {
    const ready = await run(join(programs, "pg_isready"), where).then(
      () => true,
      () => false,
    );
    if (ready) break;
  }
  for (const database of ["pgboss", "dbos"])
    await run(join(programs, "createdb"), [...where, "-U", "peer", database]);
  return { ...server, url: (database) => `postgresql://peer@127.0.0.1:${port}/${database}` };
}

export async function restateServer(): Promise<Server & { admin: number }> {
  const dir = mkdtempSync(join(tmpdir(), "peer-restate-"));
  mkdirSync(join(dir, "data"));
  const [node, admin, port] = [await freePort(), await freePort(), await freePort()];
  const file = join(dir, "restate.toml");
  writeFileSync(
    file,
    [
      'node-name = "peer"',
      `base-dir = "${join(dir, "data")}"`,
      `bind-address = "127.0.0.1:${node}"`,
      `advertised-address = "http://127.0.0.1:${node}"`,
      "[admin]",
      `bind-address = "127.0.0.1:${admin}"`,
      "[ingress]",
      `bind-address = "127.0.0.1:${port}"`,
      "",
    ].join("\n"),
  );
  const env = { ...process.env, RUST_LOG: "warn", RESTATE_DISABLE_TELEMETRY: "true" };
  const server = await serve(restateBinary(), ["--config-file", file], { port, dir, env });
  return { ...server, admin };
}
