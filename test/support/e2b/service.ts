/**
 * A stand-in for an E2B service, for the real SDK: the control API (sandboxes, their list, lease and end) and each
 * machine's envd (files, terminals), at one address as behind E2B's own proxy. A container does the machine's work
 * (machine.ts). Calls that the SDK does not need here are answered as unimplemented.
 */
import { randomBytes, randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { answer, bodyOf } from "./connect-wire.ts";
import { answerEnvd, type EnvdMachine } from "./envd.ts";
import { machinesOf, startMachine } from "./machine.ts";

interface NewSandbox {
  readonly templateID: string;
  readonly timeout?: number;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly envVars?: Readonly<Record<string, string>>;
  readonly allow_internet_access?: boolean;
}

interface Entry extends EnvdMachine {
  readonly id: string;
  readonly order: NewSandbox;
  readonly startedAt: Date;
  endAt: Date;
  timer: NodeJS.Timeout;
}

export interface E2bStandIn {
  readonly url: string;
  readonly apiKey: string;
  readonly template: string;
  /** All requests, without headers; those to a machine have the path of its envd. */
  readonly asked: { method: string; path: string; body: string }[];
  /** Changes the service's answers about a machine, to simulate another service. */
  says: (facts: Record<string, unknown>) => Record<string, unknown>;
  /** Ids of the running machines. */
  running(): string[];
  /** Existing containers, running or not. */
  containers(): Promise<string[]>;
  /** Ends every machine, as the loss of its host would. */
  loseMachines(): Promise<void>;
  close(): Promise<void>;
}

export async function startE2bStandIn(image: string): Promise<E2bStandIn> {
  const owner = randomUUID();
  const apiKey = `e2b_${randomBytes(20).toString("hex")}`;
  const entries = new Map<string, Entry>();
  const end = async (entry: Entry): Promise<void> => {
    entries.delete(entry.id);
    clearTimeout(entry.timer);
    await entry.machine.end();
  };
  const lease = (entry: Entry, seconds: number): void => {
    clearTimeout(entry.timer);
    entry.endAt = new Date(Date.now() + seconds * 1000);
    entry.timer = setTimeout(() => void end(entry), seconds * 1000);
  };
  const standIn: Omit<E2bStandIn, "url" | "close"> = {
    apiKey,
    template: "antiphon-test",
    asked: [],
    says: (facts) => facts,
    running: () => [...entries.keys()],
    containers: () => machinesOf(owner),
    loseMachines: async () => void (await Promise.all([...entries.values()].map(end))),
  };

  const create = async (order: NewSandbox): Promise<Entry | null> => {
    if (order.templateID !== standIn.template) return null;
    const machine = await startMachine(image, order.allow_internet_access !== false, owner);
    const id = `i${randomBytes(10).toString("hex")}`;
    const token = randomBytes(16).toString("hex");
    const now = new Date();
    const entry: Entry = {
      id,
      order,
      machine,
      token,
      terminals: new Map(),
      heard: (path, body) => void standIn.asked.push({ method: "POST", path, body }),
      startedAt: now,
      endAt: now,
      timer: setTimeout(() => undefined, 0),
    };
    lease(entry, order.timeout ?? 15);
    entries.set(id, entry);
    return entry;
  };
  const factsOf = ({ id, order, startedAt, endAt }: Entry): Record<string, unknown> =>
    standIn.says({
      sandboxID: id,
      templateID: `tpl-${order.templateID}`,
      alias: order.templateID,
      clientID: "stand-in",
      startedAt: startedAt.toISOString(),
      endAt: endAt.toISOString(),
      envdVersion: "0.5.7",
      state: "running",
      cpuCount: 2,
      memoryMB: 1024,
      diskSizeMB: 1024,
      metadata: order.metadata ?? {},
      allowInternetAccess: order.allow_internet_access ?? null,
      network: order.allow_internet_access === false ? { denyOut: ["0.0.0.0/0"] } : {},
      lifecycle: { onTimeout: "kill", autoResume: false },
    });

  const control = async (request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> => {
    const body = (await bodyOf(request)).toString("utf8");
    const { method = "GET" } = request;
    standIn.asked.push({ method, path: `${url.pathname}${url.search}`, body });
    const fail = (code: number, message: string): void => answer(response, code, { code, message });
    if (request.headers["x-api-key"] !== apiKey) return fail(401, "no such key");
    if (url.pathname === "/v2/sandboxes" && method === "POST") {
      const entry = await create(JSON.parse(body) as NewSandbox);
      if (entry === null) return fail(404, "template not found");
      const { sandboxID, templateID, clientID, envdVersion } = factsOf(entry);
      return answer(response, 201, {
        sandboxID,
        templateID,
        clientID,
        envdVersion,
        envdAccessToken: entry.token,
      });
    }
    if (url.pathname === "/v2/sandboxes" && method === "GET") {
      const wanted = [...new URLSearchParams(url.searchParams.get("metadata") ?? "")];
      const isWanted = ({ order }: Entry) =>
        wanted.every(
          ([name, value]) => order.metadata?.[decodeURIComponent(name)] === decodeURIComponent(value),
        );
      return answer(response, 200, [...entries.values()].filter(isWanted).map(factsOf));
    }
    const [, id = "", rest = ""] = /^\/sandboxes\/([^/]+)(.*)$/.exec(url.pathname) ?? [];
    const entry = entries.get(id);
    if (entry === undefined) return fail(404, `sandbox ${id} not found`);
    if (method === "GET" && rest === "") return answer(response, 200, factsOf(entry));
    if (method === "DELETE" && rest === "") return end(entry).then(() => answer(response, 204));
    if (method === "POST" && rest === "/timeout") {
      lease(entry, (JSON.parse(body) as { timeout: number }).timeout);
      return answer(response, 204);
    }
    fail(501, `${method} ${url.pathname} is not part of the stand-in`);
  };

  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://stand-in");
    const id = request.headers["e2b-sandbox-id"];
    const entry = typeof id === "string" ? entries.get(id) : undefined;
    const done =
      id === undefined
        ? control(request, response, url)
        : entry === undefined
          ? Promise.resolve(answer(response, 502, { code: 502, message: `sandbox ${String(id)} not found` }))
          : answerEnvd(entry, request, response, url);
    done.catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else answer(response, 500, { code: 500, message: String(error) });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return Object.assign(standIn, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      await standIn.loseMachines();
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  });
}
