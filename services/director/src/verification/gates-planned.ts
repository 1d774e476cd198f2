/**
 * Holds a plan to the skills that its intent demands. The Router plans them; one that does not know them, or a plan that was changed,
 * has none, and then nothing of the run may land. Pure.
 */
import {
  AntiphonError,
  canonicalJson,
  changesFiles,
  DEFAULT_BLOCKS,
  type AgentSpec,
  type GateSkill,
  type IntentBody,
  type PlannedTask,
  type Severity,
} from "@antiphon/contracts";

interface Demand {
  readonly skill: GateSkill;
  readonly blocks: Severity;
  /** Absent: every change. */
  readonly paths?: readonly string[];
}

type Demanding = Pick<IntentBody, "options" | "policy">;

const LAXEST_FIRST: readonly Severity[] = ["error", "warning", "info"];

/**
 * @param tasks all of the plan
 * @throws AntiphonError ANT_GATE_UNPLANNED if a skill that judges the changes of `task` is missing, or judges less than is demanded
 */
export function requireGates(
  { task }: PlannedTask,
  tasks: readonly { readonly planned: PlannedTask }[],
  intent: Demanding,
): void {
  if (!changesFiles(task)) return;
  const { task_id } = task;
  const judging = tasks.map(({ planned }) => planned).filter(({ gate }) => gate?.of === task_id);
  for (const demand of demandsOf(intent)) {
    const isMet = judging.some((one) => meets(one, demand) && isBy(one, namedBy(intent, demand.skill)));
    if (isMet) continue;
    const message = `the plan has no ${demand.skill} that judges the changes of ${task_id} as the run demands it`;
    throw new AntiphonError("ANT_GATE_UNPLANNED", message, { data: { task: task_id, skill: demand.skill } });
  }
}

function demandsOf({ options: { gates: own }, policy }: Demanding): Demand[] {
  const byRun = (own?.skills ?? []).map((skill) => ({ skill, blocks: own?.blocks ?? DEFAULT_BLOCKS }));
  const byPolicy = (policy?.gates ?? []).flatMap(({ skill, blocks = DEFAULT_BLOCKS, paths }) =>
    skill === undefined ? [] : [{ skill, blocks, ...(paths === undefined ? {} : { paths }) }],
  );
  return [...byRun, ...byPolicy];
}

/** Only the agents that the policy names bind: the run chooses among them where several profiles name one. */
function namedBy({ policy }: Demanding, skill: GateSkill): AgentSpec[] {
  return (policy?.gates ?? []).flatMap((gate) => (gate.skill === skill ? (gate.agent ?? []) : []));
}

function meets({ gate }: PlannedTask, { skill, blocks, paths }: Demand): boolean {
  if (gate?.skill !== skill) return false;
  if (LAXEST_FIRST.indexOf(gate.blocks) < LAXEST_FIRST.indexOf(blocks)) return false;
  const { paths: judged } = gate;
  return judged === undefined || (paths !== undefined && paths.every((path) => judged.includes(path)));
}

function isBy({ agent }: PlannedTask, named: readonly AgentSpec[]): boolean {
  return named.length === 0 || named.some((one) => canonicalJson(one) === canonicalJson(agent));
}
