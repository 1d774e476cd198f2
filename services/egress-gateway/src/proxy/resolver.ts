/**
 * From a name to the one address that is connected to.
 *
 * Invariants:
 *   R1  Only public addresses come out, whatever DNS says; one private address among several refuses the name.
 *   R2  What is checked is what is dialled: the address goes on, the name is never resolved again.
 *   R3  No name is asked for before the policy has let it pass, so DNS carries nothing out of a sandbox.
 */
import { lookup } from "node:dns/promises";
import { isPublicAddress } from "../policy/ip-address.ts";
import { EgressRefusal } from "../policy/refusal.ts";
import type { EgressSettings } from "../config.ts";

const RESOLVE_MS = 5_000;

export interface Endpoint {
  readonly address: string;
  readonly port: number;
}

export type Resolve = (host: string, port: number) => Promise<Endpoint>;

export function resolverOf(overrides: EgressSettings["overrides"]): Resolve {
  return async (host, port) => {
    const fixed = overrides.get(`${host}:${port}`);
    if (fixed !== undefined) return fixed;
    const answers = await resolved(host);
    const local = answers.find((address) => !isPublicAddress(address));
    const [first] = answers;
    if (local !== undefined || first === undefined)
      throw new EgressRefusal("ANT_EGRESS_ADDRESS", "host:private", `${host} has no public address alone`); // R1
    return { address: first, port }; // R2
  };
}

async function resolved(host: string): Promise<readonly string[]> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("no answer in time")), RESOLVE_MS);
  });
  try {
    const found = await Promise.race([lookup(host, { all: true, verbatim: true }), late]);
    return found.map(({ address }) => address);
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code ?? String(error);
    throw new EgressRefusal("ANT_EGRESS_UPSTREAM", "host:resolve", `${host} cannot be resolved: ${why}`);
  } finally {
    clearTimeout(timer);
  }
}
