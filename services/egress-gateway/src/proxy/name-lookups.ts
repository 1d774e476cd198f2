/**
 * Looks up the addresses of hosts, for one sandbox. A package manager asks for hundreds of files of one host at once. If each
 * were a question of its own to the name server, a small one would drop some of them, and each of those costs seconds.
 * Requests for a host share the question under way, and its answer for a few seconds.
 */
import { lookup } from "node:dns/promises";
import { LRUCache } from "lru-cache";
import { withDeadline } from "@antiphon/runtime";
import { EgressRefusal } from "../policy/refusal.ts";

/** The C library asks a silent name server twice, for five seconds each. */
const RESOLVE_MS = 12_000;
const KEPT_MS = 10_000;
const HOSTS = 256;

/** Rejects with ANT_EGRESS_UPSTREAM. A failure is not kept. */
export type NameLookup = (host: string) => Promise<readonly string[]>;

export function nameLookups(ask: NameLookup = addressesOf): NameLookup {
  const answers = new LRUCache<string, readonly string[]>({
    max: HOSTS,
    ttl: KEPT_MS,
    // A question that more than HOSTS newer ones push out is still answered.
    ignoreFetchAbort: true,
    fetchMethod: (host) => ask(host),
  });
  return async (host) => (await answers.fetch(host)) ?? [];
}

async function addressesOf(host: string): Promise<readonly string[]> {
  try {
    const found = await withDeadline(RESOLVE_MS, lookup(host, { all: true, verbatim: true }), () => {
      throw new Error("no answer in time");
    });
    return found.map(({ address }) => address);
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code ?? (error as Error).message;
    throw new EgressRefusal("ANT_EGRESS_UPSTREAM", "host:resolve", `${host} cannot be resolved: ${why}`);
  }
}
