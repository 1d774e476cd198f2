/**
 * The fields of a model call, judged by what they do to its price. Pure.
 *
 *   known     no price of their own
 *   removed   would cost more than the price list says (a faster tier, a search, another model); the call works without
 *   refused   cannot be priced and cannot be left out: a stored conversation, audio
 *   others    pass, and are named in the log, so that a new version of a program works on the day it appears
 */
import type { Endpoint } from "./endpoint.ts";
import { refused } from "./unpriced.ts";

type Body = Readonly<Record<string, unknown>>;

export interface JudgedFields {
  readonly body: Body;
  readonly removed: readonly string[];
  readonly unknown: readonly string[];
}

const words = (text: string): readonly string[] => text.trim().split(/\s+/);
const COMMON = "model temperature top_p stream tools tool_choice metadata messages";
const OPENAI =
  "parallel_tool_calls user store prompt_cache_key prompt_cache_retention safety_identifier top_logprobs";

const KNOWN: Readonly<Record<Endpoint, readonly string[]>> = {
  chat: words(`${COMMON} ${OPENAI} max_tokens max_completion_tokens n stop stream_options response_format seed
    presence_penalty frequency_penalty logit_bias logprobs reasoning_effort reasoning verbosity functions function_call
    top_k min_p repetition_penalty thinking`),
  responses: words(`${COMMON} ${OPENAI} input instructions max_output_tokens text reasoning truncation include
    max_tool_calls client_metadata context_management stream_options`),
  messages:
    words(`${COMMON} system max_tokens top_k stop_sequences thinking output_config output_format cache_control
    context_management`),
  generate: words(
    "contents systemInstruction system_instruction tools toolConfig tool_config safetySettings generationConfig labels",
  ),
};

const REMOVED: Readonly<Record<Endpoint, readonly string[]>> = {
  chat: words(`service_tier web_search_options web_search search_parameters enable_search plugins models route provider
    best_of mcp_servers`),
  responses: words("service_tier plugins models route provider"),
  messages: words("service_tier speed inference_geo mcp_servers fallbacks models"),
  generate: words("serviceTier service_tier"),
};

const REFUSED: Readonly<Record<Endpoint, readonly string[]>> = {
  chat: words("audio prediction"),
  responses: words("previous_response_id conversation prompt background"),
  messages: words("container"),
  generate: words("cachedContent cached_content"),
};

/** Throws ANT_EGRESS_MODEL for a field that is refused. A field that is null or false says nothing. */
export function judgedFields(endpoint: Endpoint, body: Body): JudgedFields {
  const kept: [string, unknown][] = [];
  const removed: string[] = [];
  const unknown: string[] = [];
  for (const [name, value] of Object.entries(body)) {
    const says = value !== null && value !== undefined && value !== false;
    if (says && REFUSED[endpoint].includes(name))
      throw refused("model:field", `the field ${JSON.stringify(name)} has no known price`);
    if (REMOVED[endpoint].includes(name)) {
      if (says) removed.push(name);
      continue;
    }
    if (!KNOWN[endpoint].includes(name) && !REFUSED[endpoint].includes(name)) unknown.push(name.slice(0, 64));
    kept.push([name, value]);
  }
  if (endpoint === "generate") checkSpelling(body);
  checkModalities(body);
  const plain = withoutCompaction(Object.fromEntries(kept));
  return {
    body: plain.body,
    removed: [...removed, ...plain.removed],
    unknown: unknown.slice(0, 16),
  };
}

/** Those of the snake_case names that are read as their other spelling is. */
const READ_AS_WELL = ["system_instruction", "cached_content"];

/**
 * The provider takes both spellings of its names, and what bounds an answer is read in one of them: the other spelling of
 * a field that is judged here, and any in the settings of an answer, is refused.
 */
function checkSpelling(body: Body): void {
  const config = body["generationConfig"];
  const inner = typeof config === "object" && config !== null ? Object.keys(config) : [];
  const judged = [...KNOWN.generate, ...REMOVED.generate, ...REFUSED.generate, "generationConfig"];
  const outer = Object.keys(body).filter((name) => judged.includes(camelCase(name)));
  const odd = [...outer, ...inner].find((name) => name.includes("_") && !READ_AS_WELL.includes(name));
  if (odd !== undefined)
    throw refused("model:field", `the field ${JSON.stringify(odd.slice(0, 64))} is read in camelCase only`);
}

const camelCase = (name: string): string =>
  name.replace(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase());

/** Answers in sound or pictures have prices of their own. */
function checkModalities(body: Body): void {
  const config = body["generationConfig"];
  const inner = typeof config === "object" && config !== null ? (config as Body) : {};
  for (const list of [body["modalities"], inner["responseModalities"]]) {
    if (Array.isArray(list) && list.some((one) => String(one).toLowerCase() !== "text"))
      throw refused("model:field", "an answer other than text has no known price");
  }
}

/** Clearing old content is free; a summary made by the provider is one more call. */
function withoutCompaction(body: Body): { readonly body: Body; readonly removed: readonly string[] } {
  const given = body["context_management"];
  if (typeof given !== "object" || given === null) return { body, removed: [] };
  const isList = Array.isArray(given);
  const edits: unknown = isList ? given : (given as Body)["edits"];
  if (!Array.isArray(edits)) return { body, removed: [] };
  const isFree = (edit: unknown): boolean => {
    const type = (edit as { type?: unknown } | null)?.type;
    return typeof type === "string" && type.startsWith("clear_");
  };
  const free = edits.filter(isFree);
  if (free.length === edits.length) return { body, removed: [] };
  const { context_management: _given, ...rest } = body;
  const kept = isList ? free : { ...(given as Body), edits: free };
  return {
    body: free.length === 0 ? rest : { ...rest, context_management: kept },
    removed: ["context_management"],
  };
}
