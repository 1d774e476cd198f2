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
import { limits, type BlobRef, type ModelBudget } from "@antiphon/contracts";
import { EgressRefusal } from "../policy/refusal.ts";
import { Scrubber } from "../policy/scrubber.ts";
import { cleanHeaders, isPlain, unreadable } from "../proxy/answer-head.ts";
import type { ModelAnswer, ModelAsk } from "../proxy/exchange.ts";
import type { Upstream } from "../proxy/upstream.ts";
import type { BudgetStore } from "./budget-store.ts";
import { recordingOf, type LeftCall, type Masking } from "./call-recording.ts";
import { routeOf, type Route } from "./endpoint.ts";
import type { Charge, Reserved } from "./ledger.ts";
import { readCall, type ModelCall } from "./model-call.ts";
import type { ModelHost } from "./model-hosts.ts";
import { UsageReader } from "./model-usage.ts";
import { outgoingHeaders } from "./outgoing-headers.ts";
import { alive, bodyOf, drained, isAlive, websocket } from "./plain-request.ts";
import { chargedFor, failedFrom, nothingYet, type ReceivedAnswer } from "./received-answer.ts";

export interface ModelPorts extends Masking {
  readonly run: string;
  readonly budget: ModelBudget | null;
  readonly budgets: Pick<BudgetStore, "reserve" | "settle">;
  readonly hosts: ReadonlyMap<string, ModelHost>;
  readonly upstream: Pick<Upstream, "send">;
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
  const received = nothingYet();
  let failure: { readonly error: unknown } | null = null;
  await answered(ask, ports, call, reserved, received).catch((error: unknown) => (failure = { error }));
  const charged = chargedFor(call, reserved, received);
  // egress-gateway/E4: the reservation stays charged when this fails.
  await ports.budgets.settle(ports.run, reserved.most, charged).catch(ports.onFailure);
  const left = (): LeftCall => ({
    ...{ model: call.model, target: ask.target, asked: call.asked, received, charged },
    body: call.bodyWith(reserved.answer),
  });
  const recording = received.hasLeft && ports.record ? await stored(left(), ports) : null;
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

/** Streams the answer back. `received` holds what arrived, also when this throws. */
async function answered(
  ask: ModelAsk,
  ports: ModelPorts,
  call: ModelCall,
  reserved: Reserved,
  received: ReceivedAnswer,
): Promise<void> {
  const { target, response, signal } = ask;
  const most = ports.answerBytes ?? limits.modelAnswerBytes;
  const body = Buffer.from(JSON.stringify(call.bodyWith(reserved.answer)), "utf8");
  const answer = await ports.upstream.send({
    target,
    method: "POST",
    headers: outgoingHeaders(ask.headers, ask.credentials ?? {}, body.length),
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

function tooLong(host: string, most: number): EgressRefusal {
  const why = `${host} sent an answer of more than ${most} bytes`;
  return new EgressRefusal("ANT_EGRESS_UPSTREAM", "upstream:long", why);
}

function isEventStream(answer: IncomingMessage): boolean {
  return (answer.headers["content-type"] ?? "").toLowerCase().startsWith("text/event-stream");
}

/** Null when the recording cannot be stored: the answer is paid for and still delivered, and the failure is logged. */
async function stored(call: LeftCall, ports: ModelPorts): Promise<BlobRef | null> {
  try {
    return await ports.store(recordingOf(call, ports));
  } catch (error) {
    ports.onFailure(error);
    return null;
  }
}

/** A request that the provider does not charge. */
async function free(ask: ModelAsk, ports: ModelPorts, rule: string): Promise<ModelAnswer> {
  const { target, response, signal } = ask;
  const body = rule === "model:count" ? await bodyOf(ask) : null;
  const headers = outgoingHeaders(ask.headers, ask.credentials ?? {}, body?.length ?? 0);
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
