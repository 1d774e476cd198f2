// The network of tasks that came in as DirectorTasks: seed 000 gives one that names none `git+pkg`. It becomes explicit here, in
// the tasks and as what their run has at most, so that nobody who reads the run has to know where its tasks came from. A run that
// says anything about its network decides for the tasks that say nothing. Where the run pays for the model of a pack and says
// nothing, the way to that model is open, and nothing else: without it no word of the task could be carried out. Pure.
import { AntiphonError, NO_NETWORK } from "@antiphon/contracts";
import type {
  EgressProfile,
  Intent,
  PolicyProfile,
  RunOptions,
  TaskGraph,
  TaskSpec,
} from "@antiphon/contracts";
import { givenPlan } from "./given-plan.ts";
import { paysForPack, paysForPackOf } from "./paid-agents.ts";

type Mode = EgressProfile["mode"];

/** Of one profile, by its contract. */
const MOST_HOSTS = 256;

/** The models that the run pays for, and no other host. */
const MODELS_ONLY: EgressProfile = { mode: "allowlist", allowlist: [] };

/** @throws AntiphonError ANT_INTENT_OPTIONS: the tasks name too many hosts for one run */
export function withSeedNetwork(options: RunOptions, plan: TaskGraph | null): RunOptions {
  if (options.egress !== undefined) return options;
  const silent = plan?.seedNetwork ?? null;
  if (silent === null) return paysForPack(options) ? { ...options, egress: MODELS_ONLY } : options;
  return opened(options, (task) => {
    const { id, egress_profile: own } = task;
    if (silent.includes(id)) return { mode: "git+pkg", allowlist: own?.allowlist ?? [] };
    return own?.mode === "none" && paysForPackOf(task, options) ? MODELS_ONLY : own;
  });
}

/**
 * The default of the seed is no wish: where a profile does not allow it, the task has less, and the run is not refused because
 * its document left a field out. What the document names stays, and is judged.
 */
export function withinEgress(
  options: RunOptions,
  intent: Intent,
  profiles: readonly PolicyProfile[],
): RunOptions {
  const allows = (mode: Mode): boolean =>
    profiles.every(({ allowedEgress }) => allowedEgress?.includes(mode) !== false);
  if (intent.constraints["egress"] !== undefined || allows("git+pkg")) return options;
  const silent = givenPlan(intent)?.seedNetwork ?? [];
  if (silent.length === 0) return options;
  const opensModels = Object.keys(options.model_budget ?? {}).length > 0;
  const rest: Mode = opensModels || !allows("none") ? "allowlist" : "none";
  return opened(options, ({ id, egress_profile: own }) => {
    if (!silent.includes(id) || own === undefined) return own;
    const { allowlist = [] } = own;
    if (allowlist.length > 0) return { mode: "allowlist", allowlist };
    return allows(rest) ? { mode: rest, allowlist } : NO_NETWORK;
  });
}

/** The tasks with these networks, and the run with as much as any of them has. A git task has none, whatever it names. */
function opened(options: RunOptions, networkOf: (task: TaskSpec) => TaskSpec["egress_profile"]): RunOptions {
  const tasks = (options.tasks ?? []).map((task) => {
    const egress_profile = networkOf(task);
    return egress_profile === undefined ? task : { ...task, egress_profile };
  });
  const profiles = tasks.flatMap(({ kind, egress_profile }) =>
    kind === "git" ? [] : (egress_profile ?? []),
  );
  const modes = profiles.map(({ mode = "git+pkg" }) => mode);
  const hosts = profiles.flatMap(({ mode, allowlist = [] }) => (mode === "none" ? [] : allowlist));
  const least: Mode = paysForPack(options) ? "allowlist" : "none";
  const mode = (["git+pkg", "allowlist"] as const).find((one) => modes.includes(one)) ?? least;
  const allowlist = [...new Set(hosts)];
  if (allowlist.length > MOST_HOSTS) throw tooMany(allowlist.length);
  return { ...options, tasks, egress: { mode, allowlist } };
}

function tooMany(hosts: number): AntiphonError {
  const path = "/inputs/plan";
  const message = `${path}: its tasks name ${hosts} hosts, and a run may reach at most ${MOST_HOSTS}; split it into several runs`;
  return new AntiphonError("ANT_INTENT_OPTIONS", message, { data: { path } });
}
