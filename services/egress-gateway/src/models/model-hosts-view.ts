/** The model hosts of a gateway as people see them, without keys; and the answer to a request about them. */
import { AntiphonError, type ModelHostView, type ModelsReply, type ModelsRequest } from "@antiphon/contracts";
import type { EgressSettings } from "../config.ts";
import type { ModelHost } from "./model-hosts.ts";
import { namedUpstreams, resolverOf } from "../proxy/resolver.ts";
import { Upstream } from "../proxy/upstream.ts";
import { tryHost } from "./model-trial.ts";

type Models = Extract<ModelsReply, { ok: true }>;

/** Throws ANT_EGRESS_HOST for a trial of a host that is not known. */
export async function modelsReply(
  request: ModelsRequest,
  settings: EgressSettings,
  node: string,
): Promise<Models> {
  const hosts = [...settings.models].map(([name, host]) => viewOf(name, host, settings));
  const unusable = settings.unusable.map(({ entry, reason }) => ({ entry, reason }));
  const reply: Models = { ok: true, node, file: settings.file, hosts, unusable };
  if (request.op === "list") return reply;
  const name = request.host.toLowerCase();
  const host = settings.models.get(name);
  if (host === undefined) {
    const lost = settings.unusable.find((one) => one.host === name || settings.isClosed === true);
    const why = lost === undefined ? "" : `: not used: ${lost.reason}`;
    throw new AntiphonError("ANT_EGRESS_HOST", `${name} is no model host of this deployment${why}`);
  }
  const upstream = new Upstream(
    resolverOf(settings, namedUpstreams(settings)),
    settings.upstreamCa,
    settings.proxy,
  );
  try {
    return { ...reply, trial: await tryHost(name, host, settings, upstream) };
  } finally {
    upstream.close();
  }
}

function viewOf(name: string, host: ModelHost, { credentials }: EgressSettings): ModelHostView {
  const { shape, upstream, base, isShipped, noKey } = host;
  const hasKey = credentials.some((one) => one.host === name);
  return {
    host: name,
    shape,
    upstream:
      upstream === null ? null : `${upstream.scheme}://${upstream.host}:${upstream.port}${base ?? ""}`,
    origin: isShipped ? "shipped" : "configuration",
    key: noKey !== null ? "missing" : hasKey ? "set" : "none",
    reason: noKey,
    prices: pricesOf(host.prices),
  };
}

/** Without the price that follows from the others. */
function pricesOf(prices: ModelHost["prices"]): ModelHostView["prices"] {
  return Object.fromEntries(
    Object.entries(prices).map(([model, { cache_write_short: _short, long, ...price }]) => {
      if (long === undefined) return [model, price];
      const { cache_write_short: _longShort, ...rest } = long;
      return [model, { ...price, long: rest }];
    }),
  );
}
