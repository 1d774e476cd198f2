/**
 * A gateway for a test file: a real nats-server, the real Director (it inspects repositories) and the gateway in this
 * process. There is no Router, so an accepted run stays queued and the test says what happens to it.
 */
import { request as httpRequest } from "node:http";
import { createLogger, openJournal, readRuntimeConfig, startService } from "@antiphon/runtime";
import type { Bus, Journal, RunningService } from "@antiphon/runtime";
import { startDirector } from "../../../services/director/src/wiring.ts";
import { readDirectorConfig } from "../../../services/director/src/config.ts";
import type { DirectorConfig } from "../../../services/director/src/config.ts";
import type { GatewayConfig } from "../../../services/gateway/src/config.ts";
import { OPEN_DIRECTORY } from "../../../services/gateway/src/identity/directory.ts";
import { NO_ADAPTERS } from "../../../services/gateway/src/sessions/adapter-settings.ts";
import { start } from "../../../services/gateway/src/wiring.ts";
import { startNats } from "../../support/nats.ts";
import type { NatsServer, NatsServerOptions } from "../../support/nats.ts";
import { undocumented } from "../../support/documented-answer.ts";
import { faultOfProblem } from "../../support/problem.ts";

export interface Answer {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly body: Record<string, unknown>;
  readonly text: string;
  readonly ms: number;
}

export interface Call {
  readonly body?: unknown;
  readonly raw?: string | Buffer;
  readonly headers?: Record<string, string>;
}

export interface World {
  readonly nats: NatsServer;
  readonly bus: Bus;
  readonly journal: Journal;
  readonly url: string;
  call(method: string, path: string, call?: Call): Promise<Answer>;
  /** The number of messages in all streams; "zero writes" leaves it unchanged. */
  stored(): Promise<number>;
  /** Another gateway takes its place, at another port. */
  restartGateway(): Promise<void>;
  /** The Director of this process ends; one of another process may take over. */
  stopDirector(): Promise<void>;
  close(): Promise<void>;
}

export async function openWorld(
  over: Partial<GatewayConfig> = {},
  server: NatsServerOptions = {},
  directing: Partial<DirectorConfig> = {},
): Promise<World> {
  const nats = await startNats(server);
  const config = {
    ...readRuntimeConfig({ ANTIPHON_NATS_URL: nats.url, ANTIPHON_UNSAFE_TRUST: "1" }),
    drainMs: 3_000,
  };
  const log = createLogger("test", { level: "silent" });
  const director = await startService(
    {
      name: "director",
      start: (context) => startDirector(context, { ...readDirectorConfig({}), ...directing }),
    },
    config,
    log,
  );
  let url = "";
  const startGateway = (): Promise<RunningService> =>
    startService(
      {
        name: "gateway",
        start: async (context) => {
          const settings = {
            host: "127.0.0.1",
            port: 0,
            token: null,
            people: [],
            directory: OPEN_DIRECTORY,
            oidc: null,
            hooks: [],
            allowedHosts: [],
            openRuns: 10_000,
            storeDir: null,
            devcontainer: "require" as const,
            adapters: NO_ADAPTERS,
            page: null,
            packFolders: [],
            notices: null,
            sessionKey: null,
            ...over,
          };
          const role = await start(context, settings);
          url = role.url;
          return role;
        },
      },
      config,
      log,
    );
  let gateway = await startGateway();
  const bus = await nats.connect();
  return {
    nats,
    bus,
    journal: openJournal(bus),
    get url() {
      return url;
    },
    async restartGateway() {
      await gateway.stop();
      gateway = await startGateway();
    },
    call: (method, path, call = {}) => send(url, method, path, call),
    async stored() {
      let messages = 0;
      for await (const stream of bus.jsm.streams.list()) messages += stream.state.messages;
      return messages;
    },
    stopDirector: () => director.stop(),
    async close() {
      await gateway.stop();
      await director.stop();
      await nats.close();
    },
  };
}

/** Not fetch, which does not let a test choose Host and Origin. */
function send(url: string, method: string, path: string, { body, raw, headers = {} }: Call): Promise<Answer> {
  const content = raw ?? (body === undefined ? undefined : JSON.stringify(body));
  const json = content === undefined ? {} : { "content-type": "application/json" };
  const began = performance.now();
  return new Promise((resolve, reject) => {
    const call = httpRequest(
      url + path,
      { method, headers: { accept: "application/json", ...json, ...headers } },
      (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("end", () => {
          const text = Buffer.concat(chunks).toString("utf8");
          const ms = performance.now() - began;
          const parsed = text.startsWith("{") ? (JSON.parse(text) as Record<string, unknown>) : {};
          const { statusCode: status = 0, headers: got } = response;
          const type = got["content-type"];
          const fault =
            method === "HEAD"
              ? null
              : (faultOfProblem(status, type, parsed) ??
                undocumented(method, path, { status, type, body: parsed }));
          if (fault !== null) return reject(fault);
          resolve({ status, headers: got, body: parsed, text, ms });
        });
      },
    );
    call.once("error", reject);
    call.end(content);
  });
}

export function errorOf(answer: Answer): Record<string, unknown> {
  return (answer.body.error ?? {}) as Record<string, unknown>;
}

export const SCRIPTED = { kind: "scripted", commands: ["true"] };

export function intentFor(
  repo: string,
  inputs: Record<string, unknown> = {},
  constraints: Record<string, unknown> = {},
): Record<string, unknown> {
  return { goal: "Do it", inputs: { repo, agent: SCRIPTED, ...inputs }, constraints };
}
