/** Prices of models, in micro-dollars (millionths of a US dollar) per million tokens, so that they are whole numbers. */
import type { Charge } from "./ledger.ts";

export interface ModelPrice {
  readonly input: number;
  readonly output: number;
  /** Tokens read from and written to a prompt cache. */
  readonly cache_read: number;
  readonly cache_write: number;
  /** The largest number of tokens in one answer. */
  readonly max_output: number;
}

export interface Usage {
  readonly input: number;
  readonly output: number;
  readonly cache_read: number;
  readonly cache_write: number;
}

export function chargeOf(usage: Usage, price: ModelPrice): Charge {
  const { input, output, cache_read, cache_write } = usage;
  const parts =
    input * price.input +
    output * price.output +
    cache_read * price.cache_read +
    cache_write * price.cache_write;
  return { tokens: input + output + cache_read + cache_write, usd_micro: Math.ceil(parts / 1_000_000) };
}

/** The most that a call can cost: all input at the dearest of the input prices. */
export function mostOf(inputTokens: number, outputTokens: number, price: ModelPrice): Charge {
  const dearest = Math.max(price.input, price.cache_write, price.cache_read);
  return {
    tokens: inputTokens + outputTokens,
    usd_micro: Math.ceil((inputTokens * dearest + outputTokens * price.output) / 1_000_000),
  };
}
