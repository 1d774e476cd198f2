/**
 * The upstreams of an egress gateway, for tests: one HTTPS server on loopback with the names of a git host (the real
 * `git http-backend`, open to pushes), a package registry that accepts publishes, model APIs of both shapes, and an
 * echo. It records its requests, so a test can see which ones arrived.
 */
import { spawn } from "node:child_process";
import { createServer, type Server } from "node:https";
import { createServer as createPlainServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { SandboxAuthority } from "../../services/egress-gateway/src/tls/authority.ts";

export const NAMES = {
  git: "git.example.test",
  packages: "packages.example.test",
  openai: "openai.example.test",
  anthropic: "anthropic.example.test",
  echo: "echo.example.test",
  other: "other.example.test",
  pinned: "pinned.example.test",
} as const;

export interface Heard {
  readonly host: string;
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

export interface Upstreams {
  readonly port: number;
  readonly plainPort: number;
  /** PEM of the authority that signed its certificates. */
  readonly authority: string;
  readonly heard: Heard[];
  /** Maps `host:443` and `host:80` to this server. */
  readonly overrides: ReadonlyMap<string, { address: string; port: number }>;
  close(): Promise<void>;
}

export async function startUpstreams(gitRoot: string): Promise<Upstreams> {
  const authority = new SandboxAuthority("test upstreams", Date.now());
  const heard: Heard[] = [];
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    void serve(request, response, heard, gitRoot).catch((error: unknown) => response.destroy(error as Error));
  };
  const server = createServer(
    { SNICallback: (name, done) => done(null, authority.contextFor(name)) },
    answer,
  );
  const plain = createPlainServer(answer);
  const [port, plainPort] = [await listening(server), await listening(plain)];
  const at = (to: number) => ({ address: "127.0.0.1", port: to });
  const hosts = Object.values(NAMES);
  return {
    port,
    plainPort,
    authority: authority.certificate,
    heard,
    overrides: new Map([
      ...hosts.map((host) => [`${host}:443`, at(port)] as const),
      ...hosts.map((host) => [`${host}:80`, at(plainPort)] as const),
    ]),
    close: async () => {
      for (const one of [server, plain]) {
        one.closeAllConnections();
        await new Promise((resolve) => one.close(resolve));
      }
    },
  };
}

function listening(server: Server | ReturnType<typeof createPlainServer>): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port));
  });
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  heard: Heard[],
  gitRoot: string,
): Promise<void> {
  const { method = "", url = "", headers } = request;
  const host = headers.host ?? "";
  if (host === NAMES.git) {
    heard.push({ host, method, url, headers, body: "" });
    return gitBackend(request, response, gitRoot);
  }
  const body = await text(request);
  heard.push({ host, method, url, headers, body });
  if (host === NAMES.openai) return openAi(url, body, response);
  if (host === NAMES.anthropic) return anthropic(body, response);
  if (host === NAMES.packages) return packages(method, url, response);
  if (url.startsWith("/redirect")) {
    response.writeHead(302, { location: `https://${NAMES.other}/landed` });
    return void response.end();
  }
  if (url.startsWith("/big")) return void response.end(Buffer.alloc(8 << 20, "x"));
  if (url.startsWith("/encoded")) {
    response.writeHead(200, { "content-encoding": "gzip" });
    return void response.end("not looked through");
  }
  const secret = String(headers.authorization ?? "none").replace("Bearer ", "");
  if (url.startsWith("/part")) {
    response.writeHead(206, { "content-range": `bytes 0-3/${secret.length}` });
    return void response.end(secret.slice(0, 4));
  }
  if (url.startsWith("/forms")) return forms(secret, response);
  response.writeHead(200, {
    "content-type": "application/json",
    "x-seen-authorization": String(headers.authorization ?? "none"),
  });
  response.end(JSON.stringify({ host, method, url, headers, body }));
}

/** Tells a secret back in several forms, and in the name of a header. */
function forms(secret: string, response: ServerResponse): void {
  const bytes = Buffer.from(secret);
  response.writeHead(200, { [`x-${secret}`]: "name" });
  response.write(secret.slice(0, 5));
  response.write(secret.slice(5));
  for (const form of [
    bytes.toString("base64"),
    bytes.toString("hex"),
    [...bytes].map((byte) => `%${byte.toString(16)}`).join(""),
    [...bytes].map((byte) => `\\u00${byte.toString(16)}`).join(""),
    [...secret].reverse().join(""),
  ])
    response.write(`\n${form}`);
  response.end();
}

function packages(method: string, url: string, response: ServerResponse): void {
  if (method !== "GET" && method !== "HEAD") return void response.writeHead(201).end("published");
  if (url.endsWith(".tgz")) return void response.end(Buffer.from("a package"));
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify({ name: "left-pad", "dist-tags": { latest: "1.0.0" } }));
}

function openAi(url: string, body: string, response: ServerResponse): void {
  const asked = JSON.parse(body || "{}") as {
    stream?: boolean;
    model?: string;
    messages?: { content: string }[];
  };
  const said = asked.messages?.[0]?.content ?? "";
  if (said === "fail")
    return void response.writeHead(400, { "content-type": "application/json" }).end('{"error":"no"}');
  if (said === "break") return void response.writeHead(503).end("overloaded");
  const usage = url.endsWith("/responses")
    ? { input_tokens: 10, output_tokens: 5, input_tokens_details: { cached_tokens: 4 } }
    : { prompt_tokens: 10, completion_tokens: 5 };
  if (asked.stream !== true) {
    response.writeHead(200, { "content-type": "application/json" });
    const echo = said === "echo" ? response.req.headers.authorization : "hello";
    const counted = said === "silent" ? {} : { usage };
    return void response.end(JSON.stringify({ choices: [{ message: { content: echo } }], ...counted }));
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  const events = url.endsWith("/responses")
    ? [
        { type: "response.output_text.delta", delta: "hello" },
        { type: "response.completed", response: { usage } },
      ]
    : [
        { choices: [{ delta: { content: "hello" } }], usage: null },
        { choices: [], usage },
      ];
  for (const event of events) response.write(`data: ${JSON.stringify(event)}\n\n`);
  response.end("data: [DONE]\n\n");
}

function anthropic(body: string, response: ServerResponse): void {
  const { stream } = JSON.parse(body) as { stream?: boolean };
  const input = { input_tokens: 7, cache_creation_input_tokens: 100, cache_read_input_tokens: 20 };
  if (stream !== true) {
    response.writeHead(200, { "content-type": "application/json" });
    return void response.end(
      JSON.stringify({ content: [{ type: "text", text: "hello" }], usage: { ...input, output_tokens: 9 } }),
    );
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  const say = (type: string, data: object): boolean =>
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
  say("message_start", { message: { usage: { ...input, output_tokens: 1 } } });
  say("content_block_delta", { delta: { type: "text_delta", text: "hello" } });
  say("message_delta", { usage: { output_tokens: 9 } });
  response.end('event: message_stop\ndata: {"type":"message_stop"}\n\n');
}

/** CGI as a web server runs it; pushes are open to all. */
async function gitBackend(request: IncomingMessage, response: ServerResponse, root: string): Promise<void> {
  const { pathname, search } = new URL(request.url ?? "/", "https://git");
  const child = spawn("git", ["-c", "http.receivepack=true", "http-backend"], {
    env: {
      PATH: process.env["PATH"],
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: "1",
      PATH_INFO: pathname,
      QUERY_STRING: search.slice(1),
      REQUEST_METHOD: request.method,
      CONTENT_TYPE: request.headers["content-type"] ?? "",
      HTTP_CONTENT_ENCODING: request.headers["content-encoding"] ?? "",
      GIT_PROTOCOL: String(request.headers["git-protocol"] ?? ""),
      REMOTE_USER: "anybody",
      REMOTE_ADDR: "127.0.0.1",
    },
  });
  child.stdin.on("error", () => undefined);
  request.pipe(child.stdin);
  const pieces: Buffer[] = [];
  for await (const piece of child.stdout as AsyncIterable<Buffer>) pieces.push(piece);
  const all = Buffer.concat(pieces);
  const end = all.indexOf("\r\n\r\n");
  const headers = all
    .toString("latin1", 0, end)
    .split("\r\n")
    .map((line) => line.split(": ", 2) as [string, string]);
  const status = Number(headers.find(([name]) => name === "Status")?.[1]?.slice(0, 3) ?? 200);
  response.writeHead(status, Object.fromEntries(headers.filter(([name]) => name !== "Status")));
  response.end(all.subarray(end + 4));
}
