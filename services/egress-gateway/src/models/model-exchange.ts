/**
 * One model call: read the whole body, price it, reserve, send, stream the answer back, settle, record.
 *
 * A call that never left costs nothing (its host has no permitted address or does not accept connections, or its sandbox
 * hung up before it was sent), and neither does one that the provider refused (4xx) or failed at (5xx, or a 200 whose answer
 * begins with the statement that it failed). Otherwise the usage that the answer states is charged; an answer that states
 * none, or breaks off, is charged the most it can have cost. An answer that is too long is cut, also for the sandbox.
 *
 * A recording holds the request and the answer as they were, without secrets, and is stored under its digest. Every call
 * that left has one, however it ended, so the log, the report and the run's account agree.
 */
import type { IncomingMessage } from "node:http";
import { digestOf, limits, type BlobRef, type ModelBudget, type ModelRecording } from "@antiphon/contracts";
import type { BudgetStore, Reserved } from "./budget-store.ts";
import type { Upstream } from "../proxy/upstream.ts";
import type { ModelHost } from "./model-hosts.ts";
import { cleanHeaders, isPlain, unreadable, type ModelAnswer, type ModelAsk } from "../proxy/exchange.ts";
import { plus, type Charge } from "./ledger.ts";
import { routeOf, type Route } from "./endpoint.ts";
import { withTexts } from "./json-texts.ts";
import { maskedAnswer } from "./masked-answer.ts";
import { readCall, type ModelCall } from "./model-call.ts";
import { UsageReader, type StatedUsage } from "./model-usage.ts";
import { alive, bodyOf, drained, isAlive, websocket } from "./plain-request.ts";
import { chargeOf } from "./pricing.ts";
import { EgressRefusal } from "../policy/refusal.ts";
import { scrubbed, Scrubber } from "../policy/scrubber.ts";

const NOTHING: Charge = { tokens: 0, usd_micro: 0 };
const NO_USAGE = { input: 0, output: 0, cache_read: 0, cache_write: 0, cache_write_short: 0 };

export interface ModelPorts {
  readonly run: string;
  readonly budget: ModelBudget | null;
  readonly budgets: Pick<BudgetStore, "reserve" | "settle">;
  readonly hosts: ReadonlyMap<string, ModelHost>;
  readonly upstream: Pick<Upstream, "send">;
  readonly secrets: readonly string[];
  /** Masks secrets of the run, and what looks like one, in recordings. It keeps the length of a text. */
  readonly mask: (text: string) => string;
  /** False: the run does not want its calls recorded. */
  readonly record: boolean;
  readonly store: (recording: Buffer) => Promise<BlobRef>;
  /** The longest answer, in bytes. Default: limits.modelAnswerBytes. */
  readonly answerBytes?: number;
  /** Called once per call that left. */
  readonly onCall: (recording: BlobRef | null, charged: Charge) => void;
  /** Called when the budget is used up. */
  readonly onSpent: () => void;
  readonly onFailure: (error: unknown) => void;
}

export async function modelExchange(ask: ModelAsk, ports: ModelPorts): Promise<ModelAnswer> {
  const host = ports.hosts.get(ask.target.host);
  const { method = "", headers } = ask.request;
  if (host === undefined)
    throw new EgressRefusal("ANT_EGRESS_MODEL", "model:host", "no prices for this host");
  if (host.noKey !== null)
    throw new EgressRefusal("ANT_EGRESS_NO_KEY", "model:key", `no key for ${ask.target.host}: ${host.noKey}`);
  if (headers.upgrade !== undefined) throw websocket();
  if (isAlive(ask)) return alive(ask);
  const route = routeOf(method, ask.target, host);
  if (route === null)
    throw new EgressRefusal(
      "ANT_EGRESS_METHOD",
      "model:path",
      `${method} ${ask.target.path} cannot be metered`,
    );
  const target = targetOf(ask.target, route, host);
  if (ports.budget === null && (route.kind === "call" || route.rule === "model:count"))
    throw new EgressRefusal("ANT_EGRESS_BUDGET", "model:budget", "the run has no model budget");
  if (route.kind === "free") return free({ ...ask, target }, ports, route.rule);
  const call = readCall(route.endpoint, await bodyOf(ask), host.prices, route);
  if (ports.budget === null) throw new EgressRefusal("ANT_EGRESS_BUDGET", "model:budget", "no model budget");
  const reserved = await ports.budgets
    .reserve(ports.run, ports.budget, call, ask.signal) // egress-gateway/E4
    .catch((error: unknown) => {
      if (error instanceof EgressRefusal && error.rule === "model:budget") ports.onSpent();
      throw error;
    });
  return metered({ ...ask, target }, ports, { ...call, asked: ask.target }, reserved);
}

/** A call, with where the program sent it. */
type Call = ModelCall & { readonly asked: ModelAsk["target"] };

function targetOf(
  asked: ModelAsk["target"],
  { path, query }: Route,
  { upstream }: ModelHost,
): ModelAsk["target"] {
  return { ...asked, ...(upstream ?? {}), path, query };
}

async function metered(
  ask: ModelAsk,
  ports: ModelPorts,
  call: Call,
  reserved: Reserved,
): Promise<ModelAnswer> {
  const received: Received = {
    hasLeft: false,
    status: 0,
    headers: {},
    text: "",
    truncated: false,
    isWhole: false,
    isOnlyFailure: false,
    trouble: null,
    usage: null,
  };
  let failure: { readonly error: unknown } | null = null;
  await answered(ask, ports, call, reserved, received).catch((error: unknown) => (failure = { error }));
  const charged = chargedFor(call, reserved, received);
  // egress-gateway/E4: the reservation stays charged when this fails.
  await ports.budgets.settle(ports.run, reserved.most, charged).catch(ports.onFailure);
  const isRecorded = received.hasLeft && ports.record;
  const recording = isRecorded ? await record(ask, ports, call, reserved, received, charged) : null;
  if (received.hasLeft) ports.onCall(recording, charged);
  const entry = {
    name: call.model,
    reserved_tokens: reserved.most.tokens,
    charged_tokens: charged.tokens,
    charged_usd_micro: charged.usd_micro,
    recording: recording?.name ?? null,
    ...failedFrom(call.asked.host, received, failure),
    ...(reserved.answer < call.answer ? { answer_bound: reserved.answer } : {}),
    ...(call.removed.length === 0 ? {} : { removed: call.removed }),
    ...(call.unknown.length === 0 ? {} : { unknown: call.unknown }),
  };
  const answer = { rule: `model:${call.endpoint}`, status: received.status, entry };
  if (failure !== null) {
    ask.onModel?.(entry);
    throw (failure as { readonly error: unknown }).error;
  }
  ask.response.end();
  return answer;
}

function chargedFor(call: ModelCall, reserved: Reserved, received: Received): Charge {
  const { hasLeft, status, usage, isOnlyFailure } = received;
  if (!hasLeft) return NOTHING;
  if (usage !== null) {
    const stated = chargeOf({ ...usage, output: usage.output ?? 0 }, call.price);
    if (usage.output !== null || isOnlyFailure) return stated;
    // It broke off: the input is known, and the answer may have gone on to its bound.
    const longest = chargeOf({ ...NO_USAGE, output: reserved.answer }, call.price);
    return plus(stated, longest);
  }
  return status >= 400 || isOnlyFailure ? NOTHING : reserved.most;
}

const TROUBLE_CHARS = 200;

/** What went wrong, for the log and for the reason of an attempt that ends with this call. */
function failedFrom(
  host: string,
  { status, trouble }: Received,
  failure: { readonly error: unknown } | null,
): { readonly failed?: string } {
  const cut = failure === null ? null : failure.error instanceof Error ? failure.error.message : "broke off";
  const said = status >= 400 ? `answered ${status}${trouble === null ? "" : `: ${trouble}`}` : trouble;
  const what = said === null ? cut : `${host} ${said}`;
  return what === null ? {} : { failed: what.replaceAll("\n", " ").slice(0, TROUBLE_CHARS) };
}

interface Received {
  /** True once the provider may have carried out the call. */
  hasLeft: boolean;
  status: number;
  headers: Readonly<Record<string, unknown>>;
  text: string;
  truncated: boolean;
  isWhole: boolean;
  /** True: it says that the call failed, and nothing else. */
  isOnlyFailure: boolean;
  /** Why the answer is of no use, after the name of the host; null: it is of use, or there is none. */
  trouble: string | null;
  /** Null: the answer stated none. */
  usage: StatedUsage | null;
}

/** Streams the answer back. `received` holds what arrived, also when this throws. */
async function answered(
  ask: ModelAsk,
  ports: ModelPorts,
  call: ModelCall,
  reserved: Reserved,
  received: Received,
): Promise<void> {
  const { target, response, signal } = ask;
  const most = ports.answerBytes ?? limits.modelAnswerBytes;
  const body = Buffer.from(JSON.stringify(call.bodyWith(reserved.answer)), "utf8");
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
  // The head waits for the first byte: if none comes, the sandbox is told why.
  const begin = (): void => {
    if (!response.headersSent)
      response.writeHead(received.status, received.headers as Record<string, string>);
  };
  const usage = new UsageReader(call.endpoint, call.stream && isEventStream(answer));
  const scrub = new Scrubber(ports.secrets);
  const decoder = new TextDecoder();
  let bytes = 0;
  const pass = async (piece: Buffer): Promise<void> => {
    const text = decoder.decode(piece, { stream: true });
    usage.push(text);
    received.text += text;
    if (piece.length === 0) return;
    begin();
    if (!response.write(piece)) await drained(ask);
  };
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      ask.down(chunk.length);
      if (bytes > most) {
        received.truncated = true;
        throw tooLong(target.host, most);
      }
      await pass(scrub.push(chunk));
    }
    await pass(scrub.end());
    begin();
    received.isWhole = true;
  } finally {
    received.usage = usage.end(received.isWhole);
    received.isOnlyFailure = usage.isOnlyFailure;
    received.trouble = usage.trouble;
  }
}

/** A body without secrets in any text of it. */
function masked(
  value: unknown,
  { secrets, mask }: Pick<ModelPorts, "secrets" | "mask">,
): ModelRecording["request"]["body"] {
  return withTexts(value, (text) => mask(scrubbed(text, secrets))) as ModelRecording["request"]["body"];
}

function tooLong(host: string, most: number): EgressRefusal {
  const why = `${host} sent an answer of more than ${most} bytes`;
  return new EgressRefusal("ANT_EGRESS_UPSTREAM", "upstream:long", why);
}

/** Headers with which the sandbox would name itself to the provider; a credential takes their place. */
const NAMING = ["authorization", "x-api-key", "x-goog-api-key", "api-key"];
/** What costs more than the price list says: long contexts, faster answers, tools that the provider runs. */
const PRICED_BETA =
  /^(context-1m|fast-mode|mcp-client|code-execution|web-fetch|web-search|files-api|skills|compact|advisor|server-side)/;

function outgoing(ask: ModelAsk, body: Buffer): ModelAsk["headers"] {
  const { "anthropic-beta": betas, "content-encoding": _coded, ...headers } = ask.headers;
  const free = [betas ?? []]
    .flat()
    .flatMap((list) => list.split(","))
    .map((beta) => beta.trim())
    .filter((beta) => beta !== "" && !PRICED_BETA.test(beta));
  return {
    ...named(headers, ask.credentials ?? {}),
    ...(free.length === 0 ? {} : { "anthropic-beta": free.join(",") }),
    "content-type": "application/json",
    "content-length": String(body.length),
  };
}

/** The program's own key is a placeholder. Where the gateway adds one, no other leaves. */
function named(
  headers: ModelAsk["headers"],
  credentials: Readonly<Record<string, string>>,
): ModelAsk["headers"] {
  if (!NAMING.some((name) => name in credentials)) return headers;
  const others = Object.entries(headers).filter(([name]) => !NAMING.includes(name));
  return { ...Object.fromEntries(others), ...credentials };
}

function isEventStream(answer: IncomingMessage): boolean {
  return (answer.headers["content-type"] ?? "").toLowerCase().startsWith("text/event-stream");
}

/** Null when the recording cannot be stored: the answer is paid for and still delivered, and the failure is logged. */
async function record(
  ask: ModelAsk,
  ports: ModelPorts,
  call: Call,
  reserved: Reserved,
  received: Received,
  charged: Charge,
): Promise<BlobRef | null> {
  const body = masked(call.bodyWith(reserved.answer), ports);
  const type = received.headers["content-type"];
  const request = { host: ask.target.host, path: ask.target.path, body };
  const { host, port, path } = call.asked;
  const isStream = typeof type === "string" && type.toLowerCase().startsWith("text/event-stream");
  const answer = maskedAnswer(received.text, isStream, ports.mask);
  const document: ModelRecording = {
    v: 1,
    request_digest: digestOf(Buffer.from(JSON.stringify(request), "utf8")),
    request,
    asked: { host, port, path },
    response: {
      status: received.status,
      content_type: typeof type === "string" ? type : null,
      text: answer,
      ...(answer === received.text ? {} : { masked: true as const }),
      truncated: received.truncated,
      whole: received.isWhole,
    },
    model: call.model,
    charged,
  };
  const bytes = Buffer.from(`${JSON.stringify(document, null, 1)}\n`, "utf8");
  try {
    return await ports.store(bytes);
  } catch (error) {
    ports.onFailure(error);
    return null;
  }
}

/** A request that the provider does not charge. */
async function free(ask: ModelAsk, ports: ModelPorts, rule: string): Promise<ModelAnswer> {
  const { target, response, signal } = ask;
  const body = rule === "model:count" ? await bodyOf(ask) : null;
  const headers = outgoing(ask, body ?? Buffer.alloc(0));
  const { "content-type": _type, "content-length": _length, ...bare } = headers;
  const method = body === null ? "GET" : "POST";
  const answer = await ports.upstream.send({
    target,
    method,
    headers: body === null ? bare : headers,
    body,
    signal,
  });
  if (!isPlain(answer)) throw unreadable(target.host);
  const status = answer.statusCode ?? 0;
  response.writeHead(status, cleanHeaders(answer, ports.secrets));
  const scrub = new Scrubber(ports.secrets);
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    ask.down(chunk.length);
    if (!response.write(scrub.push(chunk))) await drained(ask);
  }
  response.end(scrub.end());
  return { rule, status, entry: null };
}
