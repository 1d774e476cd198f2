/**
 * Reads a model call before it is sent: the model, the most it can cost, and whether the answer is streamed.
 *
 * A call is refused when its cost has no upper bound: an unknown model, a field without a known price, or content that the
 * provider would fetch or run (URLs, file ids, stored conversations, hosted tools).
 *
 * The bound of the input is one token per byte, since no tokenizer makes more tokens than bytes, plus a fixed allowance for
 * what a provider adds (chat templates, tool preambles). The bound of the answer is always sent, and a stream is asked to
 * report its usage.
 */
import { isDeeperThan } from "./json-depth.ts";
import { EgressRefusal } from "../policy/refusal.ts";
import { mostOf, type ModelPrice } from "./pricing.ts";
import type { Charge } from "./ledger.ts";

export type ModelShape = "openai" | "anthropic";
export type Endpoint = "chat" | "responses" | "messages";

export interface ModelCall {
  readonly endpoint: Endpoint;
  readonly model: string;
  readonly price: ModelPrice;
  readonly stream: boolean;
  readonly most: Charge;
  /** The body to send. */
  readonly body: Readonly<Record<string, unknown>>;
}

const PATHS: Readonly<Record<string, readonly [ModelShape, Endpoint]>> = {
  "/v1/chat/completions": ["openai", "chat"],
  "/v1/responses": ["openai", "responses"],
  "/v1/messages": ["anthropic", "messages"],
};
/** Allowance for the text that a provider adds to a prompt: templates, the preamble of tools. */
const PREAMBLE_TOKENS = 2048;
const MAX_ANSWERS = 8;
/** Deep enough for the schemas of tools, and shallow enough to recurse over. */
const MAX_DEPTH = 128;

const COMMON = ["model", "temperature", "top_p", "stream", "tools", "tool_choice", "metadata"];
const OPENAI = [
  "parallel_tool_calls",
  "user",
  "store",
  "prompt_cache_key",
  "safety_identifier",
  "top_logprobs",
];
const KEYS: Readonly<Record<Endpoint, readonly string[]>> = {
  chat: [
    ...COMMON,
    ...OPENAI,
    ...[
      "messages",
      "max_tokens",
      "max_completion_tokens",
      "n",
      "stop",
      "stream_options",
      "response_format",
      "seed",
    ],
    ...["presence_penalty", "frequency_penalty", "logit_bias", "logprobs", "reasoning_effort", "verbosity"],
  ],
  responses: [
    ...COMMON,
    ...OPENAI,
    ...["input", "instructions", "max_output_tokens", "text", "reasoning", "truncation", "include"],
  ],
  messages: [
    ...COMMON,
    ...[
      "messages",
      "system",
      "max_tokens",
      "top_k",
      "stop_sequences",
      "thinking",
      "output_config",
      "cache_control",
    ],
  ],
};
/** Types of content that are complete in the body. */
const INLINE = new Set([
  ...[
    "text",
    "input_text",
    "output_text",
    "refusal",
    "message",
    "reasoning",
    "summary_text",
    "reasoning_text",
  ],
  ...["function_call", "function_call_output", "tool_use", "tool_result", "thinking", "redacted_thinking"],
]);

/** The endpoint that a path names on a host of this shape; null for any other path. */
export function endpointOf(path: string, shape: ModelShape): Endpoint | null {
  const found = PATHS[path];
  return found !== undefined && found[0] === shape ? found[1] : null;
}

/** Throws ANT_EGRESS_MODEL, and names the part that cannot be priced. */
export function readCall(
  endpoint: Endpoint,
  bytes: Buffer,
  prices: Readonly<Record<string, ModelPrice>>,
): ModelCall {
  const body = parsed(bytes);
  const { model } = body;
  const price = typeof model === "string" && Object.hasOwn(prices, model) ? prices[model] : undefined;
  if (typeof model !== "string" || price === undefined)
    throw refused("model:unknown", `no price is known for model ${JSON.stringify(model ?? null)}`);
  const stranger = Object.keys(body).find((key) => !KEYS[endpoint].includes(key));
  if (stranger !== undefined)
    throw refused("model:field", `the field ${JSON.stringify(stranger)} has no known price`);
  checkTools(body["tools"]);
  for (const key of ["messages", "input", "system", "instructions"]) checkContent(body[key], key);
  const answers = body["n"] ?? 1;
  if (typeof answers !== "number" || !Number.isInteger(answers) || answers < 1 || answers > MAX_ANSWERS)
    throw refused("model:answers", `n must be from 1 to ${MAX_ANSWERS}`);
  const stream = body["stream"] === true;
  const bounded = withBound(endpoint, body, price);
  const sent =
    stream && endpoint === "chat"
      ? { ...bounded.body, stream_options: { include_usage: true } }
      : bounded.body;
  const most = mostOf(bytes.length + PREAMBLE_TOKENS, bounded.tokens * answers, price);
  return { endpoint, model, price, stream, most, body: sent };
}

function parsed(bytes: Buffer): Readonly<Record<string, unknown>> {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    const value: unknown = isDeeperThan(MAX_DEPTH, text) ? null : JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value))
      return value as Record<string, unknown>;
  } catch {
    // The refusal below covers this: the body is not JSON in UTF-8.
  }
  throw refused("model:body", `the body is not a JSON object in UTF-8 of at most ${MAX_DEPTH} levels`);
}

/** The body with a bound on the answer: the caller's own, else the largest one in the price list. */
function withBound(
  endpoint: Endpoint,
  body: Readonly<Record<string, unknown>>,
  price: ModelPrice,
): { readonly tokens: number; readonly body: Readonly<Record<string, unknown>> } {
  const names = {
    chat: ["max_completion_tokens", "max_tokens"],
    responses: ["max_output_tokens"],
    messages: ["max_tokens"],
  };
  const given = names[endpoint].filter((name) => body[name] !== undefined && body[name] !== null);
  for (const name of given) {
    const value = body[name];
    if (typeof value !== "number" || !Number.isInteger(value) || value < 1 || value > price.max_output)
      throw refused("model:bound", `${name} must be from 1 to ${price.max_output}`);
  }
  const tokens = given.map((name) => body[name] as number);
  if (tokens.length > 0) return { tokens: Math.max(...tokens), body };
  return {
    tokens: price.max_output,
    body: { ...body, [names[endpoint][0] ?? "max_tokens"]: price.max_output },
  };
}

function checkTools(tools: unknown): void {
  if (tools === undefined || tools === null) return;
  if (!Array.isArray(tools)) throw refused("model:tools", "tools must be a list");
  for (const tool of tools as unknown[]) {
    const kind = (tool as { type?: unknown } | null)?.type;
    if (kind !== undefined && kind !== "function" && kind !== "custom")
      throw refused(
        "model:tools",
        `a tool of type ${JSON.stringify(kind)} runs, and is charged, by the provider`,
      );
  }
}

function checkContent(value: unknown, at: string): void {
  if (Array.isArray(value)) return value.forEach((item) => checkContent(item, at));
  if (typeof value !== "object" || value === null) return;
  const { type, content, source, image_url } = value as Record<string, unknown>;
  if (type === "image" && (source as { type?: unknown } | undefined)?.type === "base64") return;
  const url = typeof image_url === "string" ? image_url : (image_url as { url?: unknown } | undefined)?.url;
  const isInlineImage = typeof url === "string" && url.startsWith("data:");
  if ((type === "image_url" || type === "input_image") && isInlineImage) return;
  if (type !== undefined && (typeof type !== "string" || !INLINE.has(type)))
    throw refused(
      "model:content",
      `content of type ${JSON.stringify(type)} in ${at} is not complete in the request`,
    );
  checkContent(content, at);
}

function refused(rule: string, why: string): EgressRefusal {
  return new EgressRefusal("ANT_EGRESS_MODEL", rule, why);
}
