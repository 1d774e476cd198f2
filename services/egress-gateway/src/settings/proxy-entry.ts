/** Makes the upstream proxy from its entry of the configuration. */
import type { EgressConfig } from "@antiphon/contracts";
import { invalid, text, type Env } from "./config-file.ts";
import type { UpstreamProxy } from "../proxy/upstream-proxy.ts";

type ProxyEntry = NonNullable<EgressConfig["upstream_proxy"]>;

/** @throws AntiphonError ANT_CONFIG_INVALID: without its proxy a deployment would reach nothing, or more than it should */
export function proxyOf(entry: ProxyEntry, env: Env): UpstreamProxy {
  const url = URL.canParse(entry.url) ? new URL(entry.url) : null;
  const scheme = url?.protocol === "https:" ? "https" : "http";
  if (url === null || url.username !== "" || url.password !== "" || url.pathname !== "/" || url.search !== "")
    throw invalid("upstream_proxy: the url is `http://host:port` or `https://host:port`, and nothing else");
  const port = url.port === "" ? (scheme === "https" ? 443 : 80) : Number(url.port);
  const host = url.hostname.replace(/^\[|\]$/g, "");
  return { scheme, host, port, authorization: authorizationOf(entry, env), byName: entry.by_name ?? false };
}

function authorizationOf({ user, env: name, file }: ProxyEntry, env: Env): string | null {
  if (user === undefined && name === undefined && file === undefined) return null;
  if (user === undefined || (name === undefined) === (file === undefined))
    throw invalid("upstream_proxy: credentials are a `user` and one of `env` and `file`");
  const secret = (name === undefined ? text(file ?? "") : (env[name] ?? "")).trim();
  if (secret === "") throw invalid(`upstream_proxy: there is no password in ${name ?? file ?? ""}`);
  return `Basic ${Buffer.from(`${user}:${secret}`).toString("base64")}`;
}
