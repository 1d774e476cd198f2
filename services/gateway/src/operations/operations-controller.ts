// The view of the person on call: the queues with the work that waits in them, and the agents that people may choose.
import { AntiphonError } from "@antiphon/contracts";
import type { AgentOf, HeldAttempts } from "@antiphon/contracts";
import { withDeadline, type ConsumerCounts } from "@antiphon/runtime";
import { hasRight, type Identity } from "../identity/roles.ts";
import type { Backend } from "../ports.ts";
import { agentLines, agentOfPack } from "./agent-packs.ts";
import type { AgentLine } from "./agent-packs.ts";

/** A person waits for the list: an egress gateway that is silent so long does not hold it up. */
const HOSTS_MS = 1_500;
/** Of a run whose intent names none. */
const DEFAULT_TENANT = "default";

export interface Queues {
  readonly consumers: readonly ConsumerCounts[];
  readonly openRuns: number;
  readonly deadLetters: number;
  /** Attempts that the Directors hold back, so that tenants take turns: those that the reader may see. */
  readonly held: readonly HeldAttempts[];
  /** How many Directors answered. */
  readonly directors: number;
}

export interface Operations {
  queues(reader: Pick<Identity, "roles" | "tenancy">): Promise<Queues>;
  agents(): Promise<{ agents: readonly AgentLine[] }>;
  /** A pack as the agent of an intent, with its own model or another one. */
  agent(name: string, model: string | undefined): Promise<{ agent: AgentOf<"pack"> }>;
}

export function operationsController(backend: Backend, packFolders: readonly string[]): Operations {
  return {
    async queues(reader) {
      const [counts, admissions] = await Promise.all([backend.queueCounts(), backend.admissions()]);
      const held = heldFor(reader, summed(admissions.flat()));
      return { ...counts, held, directors: admissions.length };
    },
    async agents() {
      const hosts = await withDeadline(HOSTS_MS, hostsOf(backend), () => null);
      return { agents: await agentLines(packFolders, hosts) };
    },
    async agent(name, model) {
      return { agent: await agentOfPack(packFolders, name, model) };
    },
  };
}

/** In a deployment with tenants, the names and the work of a tenant are shown to that tenant and to operators only. */
export function heldFor(
  { roles, tenancy }: Pick<Identity, "roles" | "tenancy">,
  all: readonly HeldAttempts[],
): readonly HeldAttempts[] {
  if (tenancy.kind === "free" || hasRight({ roles }, "operate")) return all;
  const own = tenancy.tenant ?? DEFAULT_TENANT;
  return all.filter(({ tenant }) => tenant === own);
}

/** Two Directors may hold attempts of one tenant. */
function summed(all: readonly HeldAttempts[]): HeldAttempts[] {
  const sums = new Map<string, HeldAttempts>();
  for (const one of all) {
    const key = JSON.stringify([one.tenant, one.priority]);
    sums.set(key, { ...one, attempts: one.attempts + (sums.get(key)?.attempts ?? 0) });
  }
  return [...sums.values()].sort((a, b) => b.attempts - a.attempts);
}

async function hostsOf(backend: Pick<Backend, "models">) {
  try {
    return (await backend.models({ op: "list" })).hosts;
  } catch (error) {
    if (error instanceof AntiphonError && error.code === "ANT_EGRESS_UNAVAILABLE") return null;
    throw error;
  }
}
