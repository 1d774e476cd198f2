/**
 * Resolves a host to the one address to connect to. Callers resolve only after the policy has allowed the host, so DNS
 * queries carry nothing out of a sandbox.
 *
 * Promises:
 *   egress-gateway/E3 Because a host is refused when any of its addresses is not public, and the connection goes to the
 *     checked address without a second lookup, no DNS answer can lead a sandbox into a private network, unless the
 *     deployment names the host.
 *
 * A deployment that gives names to its upstream proxy (`by_name`) leaves the check of addresses to that proxy.
 */
import { isIP } from "node:net";
import { networkInterfaces } from "node:os";
import { isNetworkAddress, isPublicAddress } from "./ip-address.ts";
import { nameLookups } from "./name-lookups.ts";
import { matches } from "../policy/policy.ts";
import { EgressRefusal } from "../policy/refusal.ts";
import type { EgressSettings } from "../config.ts";

export interface Endpoint {
  readonly address: string;
  readonly port: number;
  /** Reached through the upstream proxy. Default: false. */
  readonly isProxied?: boolean;
}

export type Resolve = (host: string, port: number) => Promise<Endpoint>;

/**
 * Hosts that the deployment itself names are reached directly, all others through its proxy, if it has one. A proxy that is
 * given names resolves them, and then the proxy decides about addresses. `privateHosts` are mirrors in a network of the
 * deployment; not even their names lead to the machine itself.
 * @param named `host:port` of upstreams that the deployment itself names: their addresses may be private
 */
export function resolverOf(
  { overrides, proxy, privateHosts }: Pick<EgressSettings, "overrides" | "proxy" | "privateHosts">,
  named: ReadonlySet<string> = new Set(),
): Resolve {
  const resolved = nameLookups();
  return async (host, port) => {
    const fixed = overrides.get(`${host}:${port}`);
    if (fixed !== undefined) return fixed;
    const isUpstream = named.has(`${host}:${port}`);
    const isMirror = privateHosts.some((one) => matches(one.host, host) && one.ports.includes(port));
    const isProxied = proxy !== null && !isUpstream && !isMirror;
    if (isProxied && proxy.byName && isIP(host) === 0) return { address: host, port, isProxied };
    const answers = await resolved(host);
    const isRight = isUpstream ? () => true : isMirror ? isOfAnother : isPublicAddress;
    const [first] = answers;
    if (first === undefined || !answers.every(isRight))
      throw new EgressRefusal("ANT_EGRESS_ADDRESS", "host:private", `${host} ${isMirror ? LOCAL : PRIVATE}`); // egress-gateway/E3
    return { address: first, port, isProxied }; // egress-gateway/E3
  };
}

/** The address of another machine. A listener of this one may trust whoever reaches it. */
function isOfAnother(address: string): boolean {
  const own = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
  return isNetworkAddress(address) && !own.some((one) => one.address === address);
}

const LOCAL = "resolves to an address of this machine or of a cloud's own services";
const PRIVATE =
  "resolves to an address that is not public; if it is a mirror of yours, name it in `private_hosts` of the egress gateway";

/** Model hosts that the deployment serves itself. */
export function namedUpstreams({ models }: EgressSettings): ReadonlySet<string> {
  const named = [...models.values()].flatMap(({ upstream }) => upstream ?? []);
  return new Set(named.map(({ host, port }) => `${host}:${port}`));
}
