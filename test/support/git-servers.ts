/** Real git servers on loopback for tests: `git daemon`, and `git http-backend` behind a password. */
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { connect, createServer as createTcpServer, type AddressInfo } from "node:net";
import { join } from "node:path";

export interface GitServer {
  /** Without a slash at the end; the repositories of the directory are below it. */
  readonly url: string;
  close(): Promise<void>;
}

/** A bare repository that takes pushes, with the commits of `source`. */
export function publish(source: string, directory: string, name: string): string {
  const bare = join(directory, name);
  mkdirSync(directory, { recursive: true });
  execFileSync("git", ["clone", "--quiet", "--bare", source, bare], { stdio: "ignore" });
  execFileSync("git", ["-C", bare, "config", "http.receivepack", "true"]);
  return bare;
}

/** Makes the repository's server refuse every push, with this reason. */
export function refusePushes(bare: string, reason: string): void {
  const hook = join(bare, "hooks/update");
  mkdirSync(join(bare, "hooks"), { recursive: true });
  writeFileSync(hook, `#!/bin/sh\necho '${reason}' >&2\nexit 1\n`);
  chmodSync(hook, 0o755);
}

/** `git daemon` for a directory, with pushes allowed. */
export async function gitDaemon(directory: string): Promise<GitServer> {
  const port = await freePort();
  const args = ["daemon", "--reuseaddr", "--listen=127.0.0.1", `--port=${port}`, "--export-all"];
  const more = [`--base-path=${directory}`, "--enable=receive-pack", directory];
  const child = spawn("git", [...args, ...more], { stdio: "ignore", detached: true });
  await answering(port);
  return { url: `git://127.0.0.1:${port}`, close: () => ended(child) };
}

export interface HttpGitServer extends GitServer {
  /** Authorization headers that clients sent. */
  readonly seen: readonly string[];
}

/** `git http-backend` as a CGI program; every request needs this user and password. */
export async function gitHttp(directory: string, user: string, password: string): Promise<HttpGitServer> {
  const wanted = `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
  const seen: string[] = [];
  const server = createServer((request, response) => {
    const { authorization } = request.headers;
    if (authorization !== undefined) seen.push(authorization);
    if (authorization === wanted) return cgi(directory, request, response);
    request.resume();
    response.writeHead(401, { "www-authenticate": 'Basic realm="git"' }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    seen,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

function cgi(directory: string, request: IncomingMessage, response: ServerResponse): void {
  const [path = "", query = ""] = (request.url ?? "").split("?");
  const child = spawn("git", ["http-backend"], {
    env: {
      PATH: process.env["PATH"] ?? "",
      GIT_PROJECT_ROOT: directory,
      GIT_HTTP_EXPORT_ALL: "1",
      GIT_CONFIG_NOSYSTEM: "1",
      HOME: "/nonexistent",
      REMOTE_USER: "tester",
      REMOTE_ADDR: "127.0.0.1",
      PATH_INFO: path,
      QUERY_STRING: query,
      REQUEST_METHOD: request.method ?? "GET",
      CONTENT_TYPE: request.headers["content-type"] ?? "",
      ...(request.headers["content-encoding"] === undefined
        ? {}
        : { HTTP_CONTENT_ENCODING: request.headers["content-encoding"] }),
      ...(request.headers["git-protocol"] === undefined
        ? {}
        : { GIT_PROTOCOL: String(request.headers["git-protocol"]) }),
    },
    stdio: ["pipe", "pipe", "ignore"],
  });
  child.stdin.on("error", () => undefined);
  request.pipe(child.stdin);
  const pieces: Buffer[] = [];
  child.stdout.on("data", (piece: Buffer) => pieces.push(piece));
  child.on("close", () => {
    const answer = Buffer.concat(pieces);
    const gap = answer.indexOf("\r\n\r\n");
    const headers = new Map(
      answer
        .toString("latin1", 0, Math.max(gap, 0))
        .split("\r\n")
        .map((line): [string, string] => [line.split(": ")[0] ?? "", line.split(": ").slice(1).join(": ")]),
    );
    const status = Number(headers.get("Status")?.slice(0, 3) ?? 200);
    headers.delete("Status");
    response.writeHead(status, Object.fromEntries(headers)).end(answer.subarray(gap + 4));
  });
}

async function freePort(): Promise<number> {
  const server = createTcpServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function answering(port: number): Promise<void> {
  const deadline = Date.now() + 10_000;
  for (;;) {
    const isUp = await new Promise<boolean>((resolve) => {
      const socket = connect(port, "127.0.0.1");
      socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
      socket.once("connect", () => socket.destroy());
    });
    if (isUp) return;
    if (Date.now() > deadline) throw new Error(`nothing listens on port ${port}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** `git daemon` is a process of its own under `git`, so the whole group ends. */
async function ended(child: ChildProcess): Promise<void> {
  const gone = new Promise<void>((resolve) => child.once("close", () => resolve()));
  if (child.pid !== undefined) process.kill(-child.pid, "SIGTERM");
  await gone;
}
