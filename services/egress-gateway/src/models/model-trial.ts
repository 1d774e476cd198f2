/** Asks a model host which models it offers: free of charge, with the deployment's key, the way a sandbox's call would go. */
import type { ModelTrial } from "@antiphon/contracts";
import type { EgressSettings } from "../config.ts";
import type { ModelHost } from "./model-hosts.ts";
import { injected } from "../policy/credentials.ts";
import { isPlain } from "../proxy/answer-head.ts";
import type { Upstream } from "../proxy/upstream.ts";
import { scrubbed } from "../policy/scrubber.ts";
import { secretsOf } from "../policy/credentials.ts";
import { routeOf } from "./endpoint.ts";
import { priceOf } from "./pricing.ts";

const WITHIN_MS = 15_000;
const MOST_BYTES = 4 * 1024 * 1024;
const MOST_MODELS = 1_000;

export async function tryHost(
  name: string,
  host: ModelHost,
  { credentials, known }: Pick<EgressSettings, "credentials" | "known">,
  upstream: Pick<Upstream, "send">,
): Promise<ModelTrial> {
  const begun = performance.now();
  const done = (works: boolean, said: string, models: readonly string[] = []): ModelTrial => ({
    host: name,
    works,
    said: scrubbed(said, secretsOf(credentials)),
    models: models.slice(0, MOST_MODELS).map((one) => one.slice(0, 128)),
    ms: Math.round(performance.now() - begun),
  });
  if (host.noKey !== null) return done(false, `no key: ${host.noKey}`);
  try {
    const { status, text } = await listed(name, host, { credentials, known }, upstream);
    if (status === 401 || status === 403) return done(false, `it refuses the key (HTTP ${status})`);
    if (status !== 200) return done(false, `it answers HTTP ${status}`);
    const models = namesIn(text);
    const priced = models.filter((model) => priceOf(host.prices, model) !== null);
    return done(true, `offers ${models.length} models, of which ${priced.length} have a price here`, models);
  } catch (error) {
    return done(false, error instanceof Error ? error.message : String(error));
  }
}

async function listed(
  name: string,
  host: ModelHost,
  { credentials, known }: Pick<EgressSettings, "credentials" | "known">,
  upstream: Pick<Upstream, "send">,
): Promise<{ readonly status: number; readonly text: string }> {
  const version = { openai: "/v1", anthropic: "/v1", gemini: "/v1beta" }[host.shape];
  const asked = { path: `${host.base ?? version}/models`, query: null };
  const route = routeOf("GET", asked, host);
  if (route === null) throw new Error("it has no list of models");
  const port = known.find((rule) => rule.host === name && rule.kind === "model")?.ports[0] ?? 443;
  const target = { scheme: "https" as const, host: name, port };
  const answer = await upstream.send({
    target: { ...target, ...(host.upstream ?? {}), path: route.path, query: route.query },
    method: "GET",
    headers: {
      accept: "application/json",
      ...(host.shape === "anthropic" ? { "anthropic-version": "2023-06-01" } : {}),
      ...injected(credentials, { ...target, ...asked }),
    },
    body: null,
    signal: AbortSignal.timeout(WITHIN_MS),
  });
  if (!isPlain(answer)) throw new Error("its answer cannot be read");
  let text = "";
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    text += chunk.toString("utf8");
    if (text.length > MOST_BYTES) throw new Error("its list of models is too long");
  }
  return { status: answer.statusCode ?? 0, text };
}

/** `{data: [{id}]}`, or `{models: [{name: "models/..."}]}`. */
function namesIn(text: string): readonly string[] {
  const { data, models } = JSON.parse(text) as { readonly data?: unknown; readonly models?: unknown };
  const list = [data, models].find((one): one is unknown[] => Array.isArray(one)) ?? [];
  return list.flatMap((entry) => {
    const { id, name } = (entry ?? {}) as { readonly id?: unknown; readonly name?: unknown };
    const found = id ?? name;
    return typeof found === "string" ? [found.replace(/^models\//, "")] : [];
  });
}
