/**
 * The usage that an answer states: in one JSON document, or in server-sent events as they pass. Usage is never estimated:
 * a call whose answer states none is charged its whole reservation, and one that states only its input is charged that and
 * the longest answer. Output counts that a stream states before its last event are partial and do not count.
 */
import {
  eventKind,
  fieldsOf as object,
  isLastEvent,
  messageIn,
  refusalIn,
  type EventKind,
} from "./answer-event.ts";
import type { Endpoint } from "./endpoint.ts";
import type { Usage } from "./pricing.ts";

/** `output` is null where the answer did not state its length. */
export type StatedUsage = Omit<Usage, "output"> & { readonly output: number | null };

/** Reads an answer in pieces. */
export class UsageReader {
  readonly #endpoint: Endpoint;
  readonly #isStream: boolean;
  /** Pieces of the incomplete line or document. They are joined once, because an answer may arrive byte by byte. */
  #pieces: string[] = [];
  #found: Partial<Usage> | null = null;
  #hasPart = false;
  #hasFailed = false;
  #isRead = false;
  #trouble: string | null = null;
  #isWhole = true;

  constructor(endpoint: Endpoint, isStream: boolean) {
    this.#endpoint = endpoint;
    this.#isStream = isStream;
  }

  push(text: string): void {
    if (!this.#isStream || !/[\r\n]/.test(text)) {
      this.#pieces.push(text);
      return;
    }
    const lines = text.split(/\r\n|\n|\r/);
    const [first = ""] = lines;
    lines[0] = this.#taken() + first;
    this.#pieces.push(lines.pop() ?? "");
    for (const line of lines) this.#line(line);
  }

  /** True: the answer says that the call failed, and held no part of an answer before. */
  get isOnlyFailure(): boolean {
    return this.#hasFailed;
  }

  /** Why the answer is of no use: the provider's own words for its failure or refusal; null: it is one. */
  get trouble(): string | null {
    if (this.#trouble !== null) return this.#trouble;
    // What is not read of an answer that broke off may be one: why it broke off says more.
    return this.#isRead || !this.#isWhole ? null : "sent an answer that is not one of its API";
  }

  #taken(): string {
    const text = this.#pieces.join("");
    this.#pieces = [];
    return text;
  }

  /** Null: the answer stated no usage. `isWhole` is false for an answer that broke off: its output may have gone on. */
  end(isWhole = true): StatedUsage | null {
    this.#isWhole = isWhole;
    if (this.#isStream) this.#line(this.#taken());
    else this.#document(this.#taken());
    const { input, output, cache_read = 0, cache_write = 0, cache_write_short = 0 } = this.#found ?? {};
    if (input === undefined) return null;
    return { input, output: isWhole ? (output ?? null) : null, cache_read, cache_write, cache_write_short };
  }

  #line(line: string): void {
    if (line.startsWith("data:")) this.#document(line.slice("data:".length));
  }

  #document(text: string): void {
    if (text.trim() === "" || text.trim() === "[DONE]") return;
    const value = parsed(text);
    this.#note(eventKind(value), value);
    const usage = usageIn(value);
    if (usage === null) return;
    const { output, ...read } = READERS[this.#endpoint](usage, this.#found ?? {});
    const isAll = !this.#isStream || statesOutput(this.#endpoint, value);
    // A stream of `messages` states the input first, and the output in a later event.
    this.#found = { ...this.#found, ...read, ...(isAll && output !== undefined ? { output } : {}) };
  }

  #note(kind: EventKind, value: unknown): void {
    if (typeof value === "object" && value !== null) this.#isRead = true;
    const refusal = refusalIn(value);
    if (refusal !== null) this.#trouble ??= `refused to answer (${refusal})`;
    if (kind === "failure") this.#trouble ??= `failed: ${messageIn(value) ?? "no reason given"}`;
    if (kind === "part") this.#hasPart = true;
    if (kind === "failure" && !this.#hasPart) this.#hasFailed = true;
  }
}

/** Undefined: this is not JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** `messages` begins with a guess, and `generate` states with each event what it has used so far. */
function statesOutput(endpoint: Endpoint, event: unknown): boolean {
  if (endpoint === "messages") return object(event)["type"] !== "message_start";
  return endpoint !== "generate" || isLastEvent(event);
}

/**
 * Looks in the places that the API shapes use: `usage`, `response.usage`, `message.usage`, `usageMetadata`. A list holds
 * the events of a stream; the last one that states usage counts.
 */
function usageIn(value: unknown): Readonly<Record<string, unknown>> | null {
  for (const event of Array.isArray(value) ? (value as unknown[]).reverse() : [value]) {
    const { usage, response, message, usageMetadata } = object(event);
    for (const candidate of [usage, object(response)["usage"], object(message)["usage"], usageMetadata]) {
      if (typeof candidate === "object" && candidate !== null) return candidate as Record<string, unknown>;
    }
  }
  return null;
}

/** `known`: what earlier events of the stream stated. */
type Reader = (usage: Readonly<Record<string, unknown>>, known: Partial<Usage>) => Partial<Usage>;

const READERS: Readonly<Record<Endpoint, Reader>> = {
  chat: openAi,
  responses: openAi,
  messages: anthropic,
  generate: gemini,
};

function openAi(usage: Readonly<Record<string, unknown>>): Partial<Usage> {
  const all = count(usage["prompt_tokens"] ?? usage["input_tokens"]);
  const output = count(usage["completion_tokens"] ?? usage["output_tokens"]);
  const details = object(usage["prompt_tokens_details"] ?? usage["input_tokens_details"]);
  const cached = count(details["cached_tokens"]) ?? 0;
  const written = count(details["cache_write_tokens"]) ?? 0;
  if (all === undefined || output === undefined) return {};
  return { input: Math.max(0, all - cached - written), cache_read: cached, cache_write: written, output };
}

function anthropic(usage: Readonly<Record<string, unknown>>, known: Partial<Usage>): Partial<Usage> {
  const written = count(usage["cache_creation_input_tokens"]);
  const stated = count(object(usage["cache_creation"])["ephemeral_5m_input_tokens"]);
  // Later events of a stream repeat the sum without saying how much of it is kept for five minutes only.
  const short = stated ?? known.cache_write_short ?? 0;
  const parts = {
    input: count(usage["input_tokens"]),
    output: count(usage["output_tokens"]),
    cache_read: count(usage["cache_read_input_tokens"]),
    cache_write: written === undefined ? undefined : Math.max(0, written - short),
    cache_write_short: written === undefined ? undefined : Math.min(short, written),
  };
  return Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== undefined));
}

/** Thoughts are charged as output, and the prompt of a tool's answer as input. */
function gemini(usage: Readonly<Record<string, unknown>>): Partial<Usage> {
  const prompt = count(usage["promptTokenCount"]);
  if (prompt === undefined) return {};
  const cached = count(usage["cachedContentTokenCount"]) ?? 0;
  const tools = count(usage["toolUsePromptTokenCount"]) ?? 0;
  const output = (count(usage["candidatesTokenCount"]) ?? 0) + (count(usage["thoughtsTokenCount"]) ?? 0);
  return { input: Math.max(0, prompt + tools - cached), cache_read: cached, output };
}

function count(value: unknown): number | undefined {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 ? value : undefined;
}
