/**
 * One model call: read the whole body, price it, reserve, send, stream the answer back, settle, record.
 *
 * A call that never left costs nothing (its host has no permitted address, or its sandbox hung up before it was sent). From
 * its first byte on, the provider may have carried it out: an answer without usage is then charged in full, unless the
 * provider refused the call (4xx).
 *
 * A recording holds the request and the answer as they were, without secrets, and is stored under its digest.
 */
import type { IncomingMessage } from "node:http";
import { addAbortSignal, PassThrough } from "node:stream";
import { digestOf, limits, type BlobRef, type ModelBudget } from "@antiphon/contracts";
import type { BudgetStore } from "./budget-store.ts";
import type { Upstream } from "../proxy/upstream.ts";
import type { ModelHost } from "../config.ts";
import { cleanHeaders, isPlain, unreadable, type ModelAnswer, type ModelAsk } from "../proxy/exchange.ts";
import type { Charge } from "./ledger.ts";
import { endpointOf, readCall, type ModelCall } from "./model-call.ts";
import { UsageReader } from "./model-usage.ts";
import { chargeOf } from "./pricing.ts";
import { EgressRefusal } from "../policy/refusal.ts";
import { scrubbed, Scrubber } from "../policy/scrubber.ts";

const NOTHING: Charge = { tokens: 0, usd_micro: 0 };

export interface ModelPorts {
  readonly run: string;
  readonly budget: ModelBudget | null;
  readonly budgets: Pick<BudgetStore, "reserve" | "settle">;
  readonly hosts: ReadonlyMap<string, ModelHost>;
  readonly upstream: Pick<Upstream, "send">;
  readonly secrets: readonly string[];
  readonly store: (recording: Buffer) => Promise<BlobRef>;
  /** Called once per finished call. */
  readonly onCall: (recording: BlobRef | null, charged: Charge) => void;
  readonly onFailure: (error: unknown) => void;
}

export async function modelExchange(ask: ModelAsk, ports: ModelPorts): Promise<ModelAnswer> {
  const host = ports.hosts.get(ask.target.host);
  const { method = "" } = ask.request;
  if (host === undefined)
    throw new EgressRefusal("ANT_EGRESS_MODEL", "model:host", "no prices for this host");
  if (method === "GET" && ask.target.path === "/v1/models") return listModels(ask, ports);
  const endpoint = method === "POST" ? endpointOf(ask.target.path, host.shape) : null;
  if (endpoint === null || ask.target.query !== null)
    throw new EgressRefusal(
      "ANT_EGRESS_METHOD",
      "model:path",
      `${method} ${ask.target.path} cannot be metered`,
    );
  const call = readCall(endpoint, await bodyOf(ask), host.prices);
  if (ports.budget === null)
    throw new EgressRefusal("ANT_EGRESS_BUDGET", "model:budget", "the run has no model budget");
  await ports.budgets.reserve(ports.run, ports.budget, call.most); // egress-gateway/E4
  return metered(ask, ports, call);
}

async function metered(ask: ModelAsk, ports: ModelPorts, call: ModelCall): Promise<ModelAnswer> {
  let charged: Charge | null = null;
  const received: Received = { hasLeft: false, status: 0, headers: {}, text: "", truncated: false };
  try {
    charged = await answered(ask, ports, call, received);
  } finally {
    charged ??= received.hasLeft ? call.most : NOTHING;
    // egress-gateway/E4: the reservation stays charged when this fails.
    await ports.budgets.settle(ports.run, call.most, charged).catch(ports.onFailure);
  }
  const recording = await record(ask, ports, call, received, charged);
  ports.onCall(recording, charged);
  const entry = {
    name: call.model,
    reserved_tokens: call.most.tokens,
    charged_tokens: charged.tokens,
    charged_usd_micro: charged.usd_micro,
    recording: recording?.name ?? null,
  };
  ask.response.end();
  return { rule: `model:${call.endpoint}`, status: received.status, entry };
}

interface Received {
  /** True once the provider may have carried out the call. */
  hasLeft: boolean;
  status: number;
  headers: Readonly<Record<string, unknown>>;
  text: string;
  truncated: boolean;
}

/** Streams the answer back and returns the charge. */
async function answered(
  ask: ModelAsk,
  ports: ModelPorts,
  call: ModelCall,
  received: Received,
): Promise<Charge> {
  const { target, response, signal } = ask;
  const body = Buffer.from(JSON.stringify(call.body), "utf8");
  const answer = await ports.upstream.send({
    target,
    method: "POST",
    headers: outgoing(ask, body),
    body,
    signal,
    onLeave: () => (received.hasLeft = true),
  });
  if (!isPlain(answer)) throw unreadable(target.host);
  received.status = answer.statusCode ?? 0;
  received.headers = cleanHeaders(answer, ports.secrets);
  response.writeHead(received.status, received.headers as Record<string, string>);
  const usage = new UsageReader(call.endpoint, call.stream && isEventStream(answer));
  const scrub = new Scrubber(ports.secrets);
  const decoder = new TextDecoder();
  let bytes = 0;
  const pass = async (piece: Buffer): Promise<void> => {
    const text = decoder.decode(piece, { stream: true });
    usage.push(text);
    received.text += text;
    if (piece.length > 0 && !response.write(piece)) await drained(ask);
  };
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    ask.down(chunk.length);
    if (bytes > limits.modelAnswerBytes) {
      received.truncated = true;
      break;
    }
    await pass(scrub.push(chunk));
  }
  await pass(scrub.end());
  const used = received.truncated ? null : usage.end();
  if (used !== null) return chargeOf(used, call.price);
  const isRefused = received.status >= 400 && received.status < 500;
  return isRefused ? NOTHING : call.most;
}

function outgoing(ask: ModelAsk, body: Buffer): ModelAsk["headers"] {
  const { "anthropic-beta": _priced, "content-encoding": _coded, ...headers } = ask.headers;
  return { ...headers, "content-type": "application/json", "content-length": String(body.length) };
}

function isEventStream(answer: IncomingMessage): boolean {
  return (answer.headers["content-type"] ?? "").toLowerCase().startsWith("text/event-stream");
}

/** Waits until the sandbox has taken the bytes written so far; throws when the exchange ends first (egress-gateway/E7). */
async function drained({ response, signal }: ModelAsk): Promise<void> {
  signal.throwIfAborted();
  await new Promise<void>((resolve) => {
    const done = (): void => {
      response.off("drain", done).off("close", done);
      signal.removeEventListener("abort", done);
      resolve();
    };
    response.on("drain", done).on("close", done);
    signal.addEventListener("abort", done);
  });
  signal.throwIfAborted();
}

/** Null when the recording cannot be stored: the answer is paid for and still delivered, and the failure is logged. */
async function record(
  ask: ModelAsk,
  ports: ModelPorts,
  call: ModelCall,
  received: Received,
  charged: Charge,
): Promise<BlobRef | null> {
  const request = { host: ask.target.host, path: ask.target.path, body: call.body };
  const document = {
    v: 1,
    request_digest: digestOf(Buffer.from(JSON.stringify(request), "utf8")),
    request,
    response: {
      status: received.status,
      content_type: received.headers["content-type"] ?? null,
      text: received.text,
      truncated: received.truncated,
    },
    model: call.model,
    charged,
  };
  const bytes = Buffer.from(scrubbed(`${JSON.stringify(document, null, 1)}\n`, ports.secrets), "utf8");
  try {
    return await ports.store(bytes);
  } catch (error) {
    ports.onFailure(error);
    return null;
  }
}

async function listModels(ask: ModelAsk, ports: ModelPorts): Promise<ModelAnswer> {
  const { target, headers, response, signal } = ask;
  const answer = await ports.upstream.send({ target, method: "GET", headers, body: null, signal });
  if (!isPlain(answer)) throw unreadable(target.host);
  const status = answer.statusCode ?? 0;
  response.writeHead(status, cleanHeaders(answer, ports.secrets));
  const scrub = new Scrubber(ports.secrets);
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    ask.down(chunk.length);
    if (!response.write(scrub.push(chunk))) await drained(ask);
  }
  response.end(scrub.end());
  return { rule: "model:list", status, entry: null };
}

async function bodyOf({ request, signal, up }: ModelAsk): Promise<Buffer> {
  if ((request.headers["content-encoding"] ?? "identity") !== "identity")
    throw new EgressRefusal("ANT_EGRESS_MODEL", "model:body", "an encoded body cannot be priced");
  const pieces: Buffer[] = [];
  let size = 0;
  // An iteration that stops early destroys its stream; the request itself must survive it, to be answered.
  const body = addAbortSignal(signal, request.pipe(new PassThrough()));
  for await (const piece of body as AsyncIterable<Buffer>) {
    size += piece.length;
    up(piece.length);
    if (size > limits.modelBodyBytes)
      throw new EgressRefusal("ANT_EGRESS_MODEL", "model:body", `a body over ${limits.modelBodyBytes} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}
