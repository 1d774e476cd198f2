/** The tasks of skills that judge changes before they land, by the run's own wish and by the deployment's policy. Pure. */
import {
  changesFiles,
  deliverableOfSkill,
  DEFAULT_BLOCKS,
  gateTaskId,
  GATE_SKILLS,
  NO_NETWORK,
} from "@antiphon/contracts";
import type {
  AgentSpec,
  DirectorTask,
  Gate,
  GateSkill,
  IntentBody,
  PlannedGate,
  PlannedTask,
  Severity,
} from "@antiphon/contracts";

/** A skill that somebody demands. Without `paths`: of every change. */
interface Demand {
  readonly skill: GateSkill;
  readonly blocks: Severity;
  readonly agent: AgentSpec;
  readonly paths?: string[];
}

/** The longest instruction of a task. */
const INSTRUCTION_CHARS = 32_768;
/** A skill gets so much of the instruction that it judges by. It gets the criteria and checks in full. */
const GOAL_CHARS = 8192;
const CUT = "... (cut)";
const STRICTER: readonly Severity[] = ["error", "warning", "info"];

/** Behind the tasks that they judge, each skill once for each task that edits files. */
export function gateTasks(tasks: readonly PlannedTask[], intent: IntentBody): PlannedTask[] {
  const demands = demandsOf(intent);
  return tasks
    .filter(({ task }) => changesFiles(task))
    .flatMap((one) => demands.map((demand) => gateTask(one, demand, intent)));
}

function demandsOf({ options, policy }: Pick<IntentBody, "options" | "policy">): Demand[] {
  const { skills = [], blocks, agent = options.agent } = options.gates ?? {};
  const byPolicy = policy?.gates ?? [];
  const order = [...skills, ...GATE_SKILLS.filter((skill) => !skills.includes(skill))];
  return order.flatMap((skill) => {
    const own: Demand[] = skills.includes(skill) ? [{ skill, blocks: blocks ?? DEFAULT_BLOCKS, agent }] : [];
    const asked = byPolicy.flatMap((gate) =>
      gate.skill === skill
        ? [ofPolicy({ ...gate, blocks: stricter(gate.blocks, blocks) }, skill, agent)]
        : [],
    );
    const all = [...own, ...asked];
    return all.length === 0 ? [] : [joined(all, asked.find(({ isNamed }) => isNamed)?.agent ?? agent)];
  });
}

function ofPolicy(
  { blocks, agent, paths }: Gate & { blocks: Severity },
  skill: GateSkill,
  otherwise: AgentSpec,
) {
  return {
    ...{ skill, blocks, agent: agent ?? otherwise, isNamed: agent !== undefined },
    ...(paths === undefined ? {} : { paths }),
  };
}

/** One skill judges a change once: by the strictest demand, whenever one of them wants it, and by the agent that the policy names. */
function joined(demands: readonly Demand[], agent: AgentSpec): Demand {
  const [first] = demands as [Demand];
  const blocks = demands.map((one) => one.blocks).sort(byStrictness)[0] ?? first.blocks;
  const paths = demands.some((one) => one.paths === undefined)
    ? undefined
    : [...new Set(demands.flatMap((one) => one.paths ?? []))];
  return { skill: first.skill, blocks, agent, ...(paths === undefined ? {} : { paths }) };
}

/** A run may demand more than the policy, and never less. */
const stricter = (policy: Severity = DEFAULT_BLOCKS, run: Severity = policy): Severity =>
  byStrictness(policy, run) <= 0 ? policy : run;

const byStrictness = (a: Severity, b: Severity): number => STRICTER.indexOf(b) - STRICTER.indexOf(a);

function gateTask(
  { task }: PlannedTask,
  { skill, blocks, agent, paths }: Demand,
  { base, options }: IntentBody,
): PlannedTask {
  const of = task.task_id;
  const { file, criterion } = deliverableOfSkill(skill);
  const gate: PlannedGate = { skill, of, blocks, ...(paths === undefined ? {} : { paths }) };
  const { git_action: _, ...judged } = task;
  const words = `${TITLES[skill]} of ${of}.\n\n${WORDS[skill]}\n\n`;
  const judging: DirectorTask = {
    ...judged,
    task_id: gateTaskId(of, skill),
    kind: "run",
    instruction: words + contractOf(task, INSTRUCTION_CHARS - words.length),
    base_ref: base.ref,
    // The judge's agent is another, so it has what the run has, however narrow the task that it judges is.
    egress_profile: options.egress ?? NO_NETWORK,
    time_budget_s: options.time_budget_s,
    acceptance_criteria: [criterion],
    allowed_tools: ["read_file", "write_file", "bash"],
    // The clean room has run the checks; what the skill writes is what counts.
    verify_profile: { mode: "none", commands: task.verify_profile.commands },
    commands: agent.kind === "scripted" ? [...(agent.commands ?? [])] : [],
    return: { ...task.return, artifacts: [file] },
  };
  return { task: judging, deps: [of], agent, gate };
}

const SEEN =
  "The files are those with the change, and the last commit is the change (`git diff HEAD~1`). Change none of them.";

const TITLES: Readonly<Record<GateSkill, string>> = { reviewer: "Review the change", qa: "Try the change" };

const WORDS: Readonly<Record<GateSkill, string>> = {
  reviewer: `Somebody else made a change, which lands if you let it pass: look for what is wrong in it or missing, and for what it breaks. ${SEEN}`,
  qa: `Somebody else made a change, which lands if you let it pass: run it, also with unusual input, and find out whether it does what its contract says. ${SEEN}`,
};

/** What the change was asked to do, in `most` characters. Of its author's words there is nothing. */
function contractOf(
  { instruction, acceptance_criteria, verify_profile }: DirectorTask,
  most: number,
): string {
  const checks = verify_profile.commands.map((command) => `${command} passes`);
  const told = [...new Set([...acceptance_criteria, ...checks])];
  const list = told.map((one) => `\n- ${one}`).join("");
  const label = "Its contract: ";
  const room = Math.max(0, most - label.length - list.length);
  return cut(`${label}${cut(instruction, Math.min(room, GOAL_CHARS))}${list}`, most);
}

function cut(text: string, most: number): string {
  return text.length <= most ? text : text.slice(0, Math.max(0, most - CUT.length)) + CUT;
}
