// One answer of the model, streamed. A call that failed for a reason that may pass (429, 5xx, a connection or an answer that
// broke off) is sent again; any other failure ends the attempt. The way out is the proxy of the sandbox, where the egress
// gateway meters the call, records it and adds the key.
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { APICallError, streamText } from "ai";
import { Agent, ProxyAgent, fetch as send } from "undici";

const TRIES = 4;
const PAUSE_MS = 1000;
const MAX_PAUSE_MS = 60_000;
/** Of one answer. A server that sends more than this many characters ignores the limit of tokens that it was told. */
const MAX_CHARS = 1024 * 1024;
const IDLE_MS = 120_000;

/** The model has ended the conversation, or no call can succeed. `why` is `budget`, `time`, `refused` or `failed`. */
export class ModelEnd extends Error {
  constructor(why, message) {
    super(message);
    this.why = why;
  }
}

/** Its answer is not whole, so it counts as none. */
class BrokenAnswer extends Error {}

/** The API that the model is called by: as MODEL_SHAPE says, else by the names of model and host. */
export function shapeOf({ MODEL_SHAPE: shape, MODEL_BASE_URL: url = "", MODEL_NAME: name = "" }) {
  if (shape !== undefined && shape !== "") {
    if (shape === "openai" || shape === "anthropic") return shape;
    throw new Error(`MODEL_SHAPE is openai or anthropic, not ${JSON.stringify(shape)}`);
  }
  return name.startsWith("claude") || new URL(url).hostname === "api.anthropic.com" ? "anthropic" : "openai";
}

/** `fetch` over the proxy of the sandbox, if there is one. */
export function senderOf(env) {
  const patience = { headersTimeout: IDLE_MS, bodyTimeout: IDLE_MS };
  const proxy = env.https_proxy ?? "";
  const dispatcher = proxy === "" ? new Agent(patience) : new ProxyAgent({ uri: proxy, ...patience });
  return (url, init) => send(url, { ...init, dispatcher });
}

export function openModel(env, limits, sender, note) {
  const shape = shapeOf(env);
  const settings = {
    name: "metered",
    baseURL: env.MODEL_BASE_URL,
    apiKey: "placeholder", // The gateway puts the key in its place.
    fetch: sender,
    includeUsage: true,
  };
  const model = (shape === "anthropic" ? createAnthropic : createOpenAICompatible)(settings)(env.MODEL_NAME);
  const call = (conversation) =>
    answered({ model, maxOutputTokens: limits.output, ...cached(shape, conversation) }, limits);
  return (conversation) => inTries(() => call(conversation), limits, note);
}

/** Anthropic reads the conversation up to a mark again at a tenth of the price. Others find the beginning by themselves. */
function cached(shape, { system, messages, tools }) {
  const mark = { providerOptions: { anthropic: { cacheControl: { type: "ephemeral" } } } };
  const head = { role: "system", content: system, ...(shape === "anthropic" ? mark : {}) };
  const last = shape === "anthropic" ? messages.length - 1 : -1;
  const marked = messages.map((message, i) => (i === last ? { ...message, ...mark } : message));
  return { messages: [head, ...marked], tools, allowSystemInMessages: true };
}

async function inTries(call, limits, note) {
  for (let at = 1; ; at += 1) {
    try {
      return await call();
    } catch (error) {
      const pauseMs = pauseAfter(error, at);
      if (pauseMs === null || at === TRIES || Date.now() + pauseMs >= limits.untilMs) throw endOf(error, at);
      note({ event: "retry", why: reasonOf(error), in_ms: pauseMs });
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
}

async function answered(request, limits) {
  const leftMs = Math.max(1, limits.untilMs - Date.now());
  const over = new AbortController();
  const abortSignal = AbortSignal.any([AbortSignal.timeout(leftMs), over.signal]);
  const stream = streamText({ ...request, abortSignal, maxRetries: 0, onError: () => undefined });
  const calls = [];
  let text = "";
  let chars = 0;
  let end = null;
  for await (const part of stream.fullStream) {
    chars += (part.text ?? part.delta ?? "").length;
    if (chars > MAX_CHARS) {
      over.abort();
      throw new ModelEnd("failed", `its answer is longer than ${MAX_CHARS} characters`);
    }
    if (part.type === "text-delta") text += part.text;
    if (part.type === "tool-call") calls.push(part);
    if (part.type === "finish-step") end = part;
    if (part.type === "abort") throw new ModelEnd("time", "the time is over");
    if (part.type === "error") throw part.error;
  }
  if (end === null || (end.rawFinishReason ?? "") === "") throw new BrokenAnswer("the answer broke off");
  const { finishReason, usage } = end;
  if (finishReason === "content-filter")
    throw new ModelEnd("refused", text.trim() === "" ? "it gave no reason" : text.trim().slice(0, 1000));
  if (calls.length === 0 && text.trim() === "" && finishReason !== "length")
    throw new BrokenAnswer("the answer is empty");
  const said = (await stream.response).messages.filter(({ role }) => role === "assistant");
  const tokens = (usage.inputTokens ?? 0) + (usage.outputTokens ?? 0);
  return { text, calls, said, finish: finishReason, tokens, context: usage.inputTokens ?? 0 };
}

/** Milliseconds until the call is sent again; null: it would fail again. */
function pauseAfter(error, at) {
  if (error instanceof ModelEnd || codeOf(error) !== null) return null;
  if (APICallError.isInstance(error) && error.statusCode !== undefined && !error.isRetryable) return null;
  const told = Number(APICallError.isInstance(error) ? error.responseHeaders?.["retry-after"] : Number.NaN);
  const pauseMs = Number.isFinite(told) ? told * 1000 : PAUSE_MS * 2 ** (at - 1);
  return Math.min(Math.max(pauseMs, 0), MAX_PAUSE_MS);
}

/** The code of a refusal by the egress gateway; null: the provider answered, or nobody did. */
function codeOf(error) {
  const body = APICallError.isInstance(error) ? (error.responseBody ?? "") : "";
  return /"code":\s*"(ANT_EGRESS_[A-Z_]+)"/.exec(body)?.[1] ?? null;
}

function endOf(error, tries) {
  if (error instanceof ModelEnd) return error;
  const why = codeOf(error) === "ANT_EGRESS_BUDGET" ? "budget" : "failed";
  return new ModelEnd(why, `${reasonOf(error)}${tries > 1 ? ` (${tries} tries)` : ""}`);
}

function reasonOf(error) {
  if (!APICallError.isInstance(error)) return textOf(error).slice(0, 400);
  const body = (error.responseBody ?? "").replace(/\s+/g, " ").slice(0, 300);
  return `${error.statusCode ?? "no answer"}: ${body === "" ? error.message.slice(0, 300) : body}`;
}

function textOf(error) {
  if (error instanceof Error) return error.message;
  return typeof error === "string" ? error : JSON.stringify(error);
}
