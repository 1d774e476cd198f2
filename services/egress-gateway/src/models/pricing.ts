/** Prices of models, in micro-dollars (millionths of a US dollar) per million tokens, so that they are whole numbers. */
import type { Charge } from "./ledger.ts";

export interface Rates {
  readonly input: number;
  readonly output: number;
  /** Tokens read from and written to a prompt cache. */
  readonly cache_read: number;
  readonly cache_write: number;
  /** Tokens written to a prompt cache for the shorter time. Default: `cache_write`. */
  readonly cache_write_short?: number;
}

export interface ModelPrice extends Rates {
  /** The largest number of tokens in one answer. */
  readonly max_output: number;
  /** The prices of a whole call with more tokens of input than `above`. */
  readonly long?: Rates & { readonly above: number };
}

export interface Usage {
  readonly input: number;
  readonly output: number;
  readonly cache_read: number;
  readonly cache_write: number;
  readonly cache_write_short: number;
}

/** Whether a call writes to a prompt cache, and for how long: what its input may cost. */
export type CacheWrite = "none" | "short" | "long";

/** The price of a model: by its exact name, else by the longest entry `prefix*`. */
export function priceOf(prices: Readonly<Record<string, ModelPrice>>, model: string): ModelPrice | null {
  if (Object.hasOwn(prices, model)) return prices[model] ?? null;
  const best = Object.keys(prices)
    .filter((name) => name.endsWith("*") && model.startsWith(name.slice(0, -1)))
    .sort((a, b) => b.length - a.length)[0];
  return best === undefined ? null : (prices[best] ?? null);
}

export function chargeOf(usage: Usage, price: ModelPrice): Charge {
  const { input, output, cache_read, cache_write, cache_write_short } = usage;
  const read = input + cache_read + cache_write + cache_write_short;
  const rates = price.long !== undefined && read > price.long.above ? price.long : price;
  const parts =
    input * rates.input +
    output * rates.output +
    cache_read * rates.cache_read +
    cache_write * rates.cache_write +
    cache_write_short * shortWrite(rates);
  return { tokens: read + output, usd_micro: Math.ceil(parts / 1_000_000) };
}

/** The most that a call can cost: all input at the dearest of the input prices that can apply. */
export function mostOf(
  inputTokens: number,
  outputTokens: number,
  price: ModelPrice,
  writes: CacheWrite,
): Charge {
  const canBeLong = price.long !== undefined && inputTokens > price.long.above;
  const most = [price, ...(canBeLong ? [price.long] : [])].map((rates) => {
    const written = { none: 0, short: shortWrite(rates), long: rates.cache_write }[writes];
    const dearest = Math.max(rates.input, rates.cache_read, written);
    return Math.ceil((inputTokens * dearest + outputTokens * rates.output) / 1_000_000);
  });
  return { tokens: inputTokens + outputTokens, usd_micro: Math.max(...most) };
}

function shortWrite(rates: Rates): number {
  return rates.cache_write_short ?? rates.cache_write;
}
