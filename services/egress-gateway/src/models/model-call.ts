/**
 * Reads a model call before it is sent: the model, the most it can cost, and the body that leaves. Pure.
 *
 * Programs send fields that a price list does not know. A field without a price of its own passes, and is logged when its
 * name is new. A field that would cost extra is removed. A call whose cost still has no bound is refused: an unknown model, a
 * reference that the provider would fetch, a stored conversation.
 *
 * The input is bounded by the text of the body (token-bound.ts), plus an allowance for what a provider adds. The bound of
 * the answer is always sent, and a stream is asked to report its usage.
 */
import { answerAsked, withAnswerBound } from "./answer-bound.ts";
import { checkContent, valueBound } from "./call-content.ts";
import { judgedFields } from "./call-fields.ts";
import { judgedTools } from "./call-tools.ts";
import type { Endpoint } from "./endpoint.ts";
import { isTooDeep, MAX_DEPTH } from "./json-depth.ts";
import type { Charge } from "./ledger.ts";
import { mostOf, priceOf, type CacheWrite, type ModelPrice } from "./pricing.ts";
import { refused } from "./unpriced.ts";

export interface ModelCall {
  readonly endpoint: Endpoint;
  readonly model: string;
  readonly price: ModelPrice;
  readonly stream: boolean;
  /** Its highest cost, with the longest answer. */
  readonly most: Charge;
  /** The longest answer that it asks for, in tokens. */
  readonly answer: number;
  /** Its highest cost with an answer of at most so many tokens. */
  readonly mostWith: (answer: number) => Charge;
  /** The body to send, with the bound of such an answer. */
  readonly bodyWith: (answer: number) => Readonly<Record<string, unknown>>;
  /** Names of fields, and types of tools, that do not leave. */
  readonly removed: readonly string[];
  /** Names of fields that leave although nothing is known about them. */
  readonly unknown: readonly string[];
}

/** Allowance for the text that a provider adds to a prompt: templates, the preamble of tools. */
const PREAMBLE_TOKENS = 2048;
const MAX_ANSWERS = 8;

/**
 * Throws ANT_EGRESS_MODEL, and names the part that cannot be priced.
 *
 * @param asked what the path says; null: the body says it
 */
export function readCall(
  endpoint: Endpoint,
  bytes: Buffer,
  prices: Readonly<Record<string, ModelPrice>>,
  asked: { readonly model: string | null; readonly stream: boolean | null } = { model: null, stream: null },
): ModelCall {
  const given = parsedBody(bytes);
  const model = asked.model ?? given["model"];
  const price = typeof model === "string" ? priceOf(prices, model) : null;
  if (typeof model !== "string" || price === null)
    throw refused("model:unknown", `no price is known for model ${JSON.stringify(model ?? null)}`);
  const fields = judgedFields(endpoint, given);
  const tools = judgedTools(endpoint, fields.body);
  checkContent(tools.body);
  const answers = answersOf(endpoint, tools.body);
  const stream = asked.stream ?? given["stream"] === true;
  const body =
    stream && endpoint === "chat" ? { ...tools.body, stream_options: { include_usage: true } } : tools.body;
  const input = valueBound(body) + PREAMBLE_TOKENS;
  const writes = cacheWrites(endpoint, body);
  const mostWith = (answer: number): Charge => mostOf(input, answer * answers, price, writes);
  const answer = answerAsked(endpoint, body, price.max_output);
  return {
    ...{ endpoint, model, price, stream, answer, most: mostWith(answer), mostWith },
    bodyWith: (tokens) => withAnswerBound(endpoint, body, tokens),
    removed: [...fields.removed, ...tools.removed.map((type) => `tool ${type}`)].slice(0, 32),
    unknown: fields.unknown,
  };
}

/** Throws ANT_EGRESS_MODEL. */
export function parsedBody(bytes: Buffer): Readonly<Record<string, unknown>> {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    const value: unknown = isTooDeep(text) ? null : JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value))
      return value as Record<string, unknown>;
  } catch {
    // The refusal below covers this: the body is not JSON in UTF-8.
  }
  throw refused("model:body", `the body is not a JSON object in UTF-8 of at most ${MAX_DEPTH} levels`);
}

/** The number of answers that one call asks for. */
function answersOf(endpoint: Endpoint, body: Readonly<Record<string, unknown>>): number {
  const config = (body["generationConfig"] ?? {}) as Readonly<Record<string, unknown>>;
  const answers = (endpoint === "generate" ? config["candidateCount"] : body["n"]) ?? 1;
  if (typeof answers !== "number" || !Number.isInteger(answers) || answers < 1 || answers > MAX_ANSWERS)
    throw refused("model:answers", `a call may ask for 1 to ${MAX_ANSWERS} answers`);
  return answers;
}

/** A call of this shape writes to a cache only where its body says so. Others have one price for it. */
function cacheWrites(endpoint: Endpoint, body: Readonly<Record<string, unknown>>): CacheWrite {
  if (endpoint !== "messages") return "long";
  const text = JSON.stringify(body);
  if (!text.includes('"cache_control"')) return "none";
  return text.includes('"1h"') ? "long" : "short";
}
