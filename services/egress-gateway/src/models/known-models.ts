/**
 * Providers whose hosts and prices are known without a configuration: their key is in a variable of the environment that
 * their own programs read. An entry of the configuration for the same host replaces the one here.
 *
 * Prices are the providers' list prices of November 2026, in US dollars per million tokens; where a list has several (an
 * introductory price, a write to the cache that an answer does not report), the higher one, so that a budget is never
 * exceeded. A model that is not here is refused, since its price is unknown.
 */
import type { EgressConfig, PROVIDER_KEYS } from "@antiphon/contracts";

type ModelEntry = NonNullable<EgressConfig["models"]>[number];
type Credential = NonNullable<EgressConfig["credentials"]>[number];

export interface KnownProvider {
  readonly host: keyof typeof PROVIDER_KEYS;
  readonly shape: ModelEntry["shape"];
  /** How the key is sent. */
  readonly credential: Pick<Credential, "header" | "value">;
  readonly prices: ModelEntry["prices"];
}

/** Input, output, read from the cache. */
type Dollars = readonly [input: number, output: number, cacheRead: number];

const micro = (dollars: number): number => Math.round(dollars * 1_000_000);

function rates([input, output, cacheRead]: Dollars) {
  return { input: micro(input), output: micro(output), cache_read: micro(cacheRead) };
}

const model = (max_output: number, dollars: Dollars, long?: readonly [above: number, dollars: Dollars]) => ({
  ...rates(dollars),
  max_output,
  ...(long === undefined ? {} : { long: { above: long[0], ...rates(long[1]) } }),
});

/** Beyond 272,000 tokens of input the whole call costs twice the input and 1.5 times the output. */
const gpt = (input: number, output: number, cacheRead: number) =>
  model(128_000, [input, output, cacheRead], [272_000, [2 * input, 1.5 * output, 2 * cacheRead]]);

export const KNOWN_PROVIDERS: readonly KnownProvider[] = [
  {
    host: "api.anthropic.com",
    shape: "anthropic",
    credential: { header: "x-api-key", value: "${secret}" },
    prices: {
      "claude-fable-5-2*": model(128_000, [8, 40, 0.8]),
      "claude-fable-5*": model(128_000, [10, 50, 1]),
      "claude-opus-5-5*": model(128_000, [4, 20, 0.2]),
      "claude-opus-5": model(128_000, [5, 25, 0.5]),
      "claude-opus-4-5*": model(64_000, [5, 25, 0.5]),
      "claude-opus-4-6*": model(128_000, [5, 25, 0.5]),
      "claude-opus-4-7*": model(128_000, [5, 25, 0.5]),
      "claude-opus-4-8*": model(128_000, [5, 25, 0.5]),
      "claude-sonnet-5-5*": model(128_000, [2, 10, 0.1]),
      "claude-sonnet-5": model(128_000, [2, 10, 0.2]),
      "claude-sonnet-4-6*": model(128_000, [3, 15, 0.3]),
      "claude-sonnet-4-5*": model(64_000, [3, 15, 0.3]), // longer contexts are not asked for (model-exchange.ts)
      "claude-haiku-5-5*": model(128_000, [0.1, 0.5, 0.01], [100_000, [0.5, 2.5, 0.05]]),
      "claude-haiku-4-5*": model(64_000, [1, 5, 0.1]),
    },
  },
  {
    host: "api.openai.com",
    shape: "openai",
    credential: {},
    // From gpt-5.6 on, input that is written to the cache costs a quarter more, and is counted as written here.
    prices: {
      "gpt-6.1-sol*": gpt(2.5, 10, 0.1),
      "gpt-6.1-terra*": gpt(1.25, 5, 0.05),
      "gpt-6-astra*": gpt(12.5, 50, 1),
      "gpt-6-sol*": gpt(2.5, 10, 0.2),
      "gpt-6-luna*": gpt(0.125, 0.5, 0.01),
      "gpt-5.6": gpt(6.25, 30, 0.5),
      "gpt-5.6-sol*": gpt(6.25, 30, 0.5),
      "gpt-5.6-terra*": gpt(2.5, 12, 0.2),
      "gpt-5.6-luna*": gpt(0.25, 1.2, 0.02),
      "gpt-5.5": gpt(5, 30, 0.5),
      "gpt-5.5-20*": gpt(5, 30, 0.5),
      "gpt-5.5-pro*": gpt(30, 180, 30),
      "gpt-5.4": gpt(2.5, 15, 0.25),
      "gpt-5.4-20*": gpt(2.5, 15, 0.25),
      "gpt-5.4-mini*": gpt(0.75, 4.5, 0.075),
      "gpt-5.4-nano*": gpt(0.2, 1.25, 0.02),
      "gpt-5.4-pro*": gpt(30, 180, 30),
      "gpt-5": model(128_000, [1.25, 10, 0.125]),
      "gpt-5-20*": model(128_000, [1.25, 10, 0.125]),
      "gpt-5-codex*": model(128_000, [1.25, 10, 0.125]),
      "gpt-5-mini*": model(128_000, [0.25, 2, 0.025]),
      "gpt-5-nano*": model(128_000, [0.05, 0.4, 0.005]),
      "gpt-5-pro*": model(128_000, [15, 120, 15]),
      "gpt-4.1": model(32_768, [2, 8, 0.5]),
      "gpt-4.1-20*": model(32_768, [2, 8, 0.5]),
      "gpt-4.1-mini*": model(32_768, [0.4, 1.6, 0.1]),
      "gpt-4.1-nano*": model(32_768, [0.1, 0.4, 0.025]),
    },
  },
  {
    host: "generativelanguage.googleapis.com",
    shape: "gemini",
    credential: { header: "x-goog-api-key", value: "${secret}" },
    prices: {
      "gemini-3.8-flash": model(65_536, [1.5, 7.5, 1.5]),
      "gemini-3.5-flash": model(65_536, [1.5, 9, 1.5]),
      "gemini-3.5-flash-lite": model(65_536, [0.3, 2.5, 0.3]),
      "gemini-3.1-pro-preview": model(65_536, [2, 12, 2], [200_000, [4, 18, 4]]),
      "gemini-2.5-pro": model(65_536, [1.25, 10, 1.25], [200_000, [2.5, 15, 2.5]]),
      "gemini-2.5-flash": model(65_536, [0.3, 2.5, 0.3]),
      "gemini-2.5-flash-lite": model(65_536, [0.1, 0.4, 0.1]),
    },
  },
];
