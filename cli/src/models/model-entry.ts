// One model host from the options of the command line, as an entry of the egress gateway's configuration. Pure.
import type { EgressConfig } from "@antiphon/contracts";
import { usage } from "../failure.ts";

export interface AddOptions {
  readonly shape: string;
  readonly price: readonly string[];
  readonly maxOutput: string;
  readonly baseUrl?: string;
  readonly keyEnv?: string;
  readonly keyFile?: string;
}

type Model = NonNullable<EgressConfig["models"]>[number];
type Credential = NonNullable<EgressConfig["credentials"]>[number];

const MICRO = 1_000_000;
const PRICE = /^(.+)=(\d+(?:\.\d+)?)\/(\d+(?:\.\d+)?)(?:\/(\d+(?:\.\d+)?))?$/;
const HEADERS: Readonly<Record<string, Pick<Credential, "header" | "value">>> = {
  anthropic: { header: "x-api-key", value: "${secret}" },
  gemini: { header: "x-goog-api-key", value: "${secret}" },
};

/** Throws ANT_USAGE for an option that makes no sense. */
export function modelEntry(
  host: string,
  options: AddOptions,
): { readonly model: Model; readonly credential: Credential | null } {
  const { shape, baseUrl, keyEnv, keyFile } = options;
  if (!/^\d{1,8}$/.test(options.maxOutput) || Number(options.maxOutput) < 1)
    throw usage("--max-output: must be a number of tokens");
  if (keyEnv !== undefined && keyFile !== undefined) throw usage("give one of --key-env and --key-file");
  const prices = Object.fromEntries(options.price.map((price) => priceOf(price, Number(options.maxOutput))));
  const key = keyEnv === undefined ? (keyFile === undefined ? null : { file: keyFile }) : { env: keyEnv };
  return {
    model: {
      host,
      shape: shape as Model["shape"],
      ...(baseUrl === undefined ? {} : { base_url: baseUrl }),
      prices,
    },
    credential: key === null ? null : { host, ...HEADERS[shape], ...key },
  };
}

/** `name=input/output[/read from the cache]`, in dollars per million tokens. */
function priceOf(text: string, max_output: number): [string, Model["prices"][string]] {
  const [, name, input, output, cache] = PRICE.exec(text) ?? [];
  if (name === undefined)
    throw usage(
      `--price ${JSON.stringify(text)}: must be model=input/output, in dollars per million tokens`,
      `for example --price 'my-model*=2.50/10', or --price '*=0/0' for a server of your own`,
    );
  const micro = (dollars: string | undefined): number => Math.round(Number(dollars) * MICRO);
  const cached = cache === undefined ? {} : { cache_read: micro(cache) };
  return [name, { input: micro(input), output: micro(output), ...cached, max_output }];
}

/** The configuration with this host's entries in place of the old ones. */
export function withHost(
  config: EgressConfig,
  { model, credential }: ReturnType<typeof modelEntry>,
): EgressConfig {
  const { models, credentials } = withoutHost(config, model.host, credential === null ? "models" : "both");
  return {
    ...config,
    models: [...(models ?? []), model],
    ...(credential === null ? {} : { credentials: [...(credentials ?? []), credential] }),
  };
}

export function withoutHost(config: EgressConfig, host: string, which: "models" | "both"): EgressConfig {
  const isOther = (entry: { readonly host: string }): boolean =>
    entry.host.toLowerCase() !== host.toLowerCase();
  return {
    ...config,
    ...(config.models === undefined ? {} : { models: config.models.filter(isOther) }),
    ...(which === "models" || config.credentials === undefined
      ? {}
      : { credentials: config.credentials.filter(isOther) }),
  };
}
