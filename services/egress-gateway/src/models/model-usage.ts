/**
 * The usage that an answer states: in one JSON document, or in server-sent events as they pass. Usage is never estimated:
 * a call whose answer states none is charged its whole reservation.
 */
import type { Endpoint } from "./model-call.ts";
import type { Usage } from "./pricing.ts";

/** Reads an answer in pieces. */
export class UsageReader {
  readonly #endpoint: Endpoint;
  readonly #isStream: boolean;
  /** Pieces of the incomplete line or document. They are joined once, because an answer may arrive byte by byte. */
  #pieces: string[] = [];
  #found: Partial<Usage> | null = null;

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

  #taken(): string {
    const text = this.#pieces.join("");
    this.#pieces = [];
    return text;
  }

  /** Null: the answer stated no usage. */
  end(): Usage | null {
    if (this.#isStream) this.#line(this.#taken());
    else this.#document(this.#taken());
    const found = this.#found;
    if (found?.input === undefined || found.output === undefined) return null;
    return {
      input: found.input,
      output: found.output,
      cache_read: found.cache_read ?? 0,
      cache_write: found.cache_write ?? 0,
    };
  }

  #line(line: string): void {
    if (line.startsWith("data:")) this.#document(line.slice("data:".length));
  }

  #document(text: string): void {
    const usage = usageIn(text);
    if (usage === null) return;
    const read = this.#endpoint === "messages" ? anthropic(usage) : openAi(usage);
    // A stream of `messages` states the input first; later events state the output so far.
    this.#found = { ...this.#found, ...read };
  }
}

/** Looks in the places that the API shapes use: `usage`, `response.usage`, `message.usage`. */
function usageIn(text: string): Readonly<Record<string, unknown>> | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null; // `[DONE]`, or an answer that is not JSON
  }
  const { usage, response, message } = object(value);
  for (const candidate of [usage, object(response)["usage"], object(message)["usage"]]) {
    if (typeof candidate === "object" && candidate !== null) return candidate as Record<string, unknown>;
  }
  return null;
}

function openAi(usage: Readonly<Record<string, unknown>>): Partial<Usage> {
  const all = count(usage["prompt_tokens"] ?? usage["input_tokens"]);
  const output = count(usage["completion_tokens"] ?? usage["output_tokens"]);
  const details = object(usage["prompt_tokens_details"] ?? usage["input_tokens_details"]);
  const cached = count(details["cached_tokens"]) ?? 0;
  if (all === undefined || output === undefined) return {};
  return { input: Math.max(0, all - cached), cache_read: cached, output };
}

function anthropic(usage: Readonly<Record<string, unknown>>): Partial<Usage> {
  const parts = {
    input: count(usage["input_tokens"]),
    output: count(usage["output_tokens"]),
    cache_read: count(usage["cache_read_input_tokens"]),
    cache_write: count(usage["cache_creation_input_tokens"]),
  };
  return Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== undefined));
}

function count(value: unknown): number | undefined {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 ? value : undefined;
}

function object(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
