/** The tools, the network and the time of one task. A task can narrow those of its run, and never widen them. Pure. */
import type { DirectorTask, EgressProfile, TaskKind } from "../seeds/director-task.ts";
import { TASK_TOOL_NAMES, type TaskTool } from "../seeds/task-tool.ts";
import type { AgentOf, AgentSpec } from "./agents.ts";

/** The tools of an agent by the kind of its task. */
export const TASK_TOOLS: Record<TaskKind, readonly string[]> = {
  edit_repo: ["read_file", "write_file", "edit_file", "bash", "git_checkpoint"],
  run: ["read_file", "bash"],
  inspect: ["read_file", "bash"],
  git: ["git_checkpoint"],
};

export const NO_NETWORK: EgressProfile = { mode: "none", allowlist: [] };

/** Why a task cannot have the network that it asks for, in a run with `ofRun`; null: it can. */
export function egressBeyond(
  asked: { readonly mode?: EgressProfile["mode"]; readonly allowlist?: readonly string[] },
  ofRun: EgressProfile = NO_NETWORK,
): string | null {
  const { mode = "git+pkg", allowlist = [] } = asked;
  if (mode === "none") return null;
  if (mode === "git+pkg" && ofRun.mode !== "git+pkg")
    return `it asks for git+pkg, and the run has ${ofRun.mode}: give the run --egress git+pkg`;
  const hosts = ofRun.mode === "none" ? [] : ofRun.allowlist;
  const host = allowlist.find((one) => !hosts.includes(one));
  return host === undefined ? null : `it asks for ${host}: give the run --allow-host ${host}`;
}

/** A tool that a task leaves out, and that its agent has nevertheless. */
export interface ToolLeftOut {
  readonly tool: string;
  /** Another tool, which is allowed and the same one in the agent's program. Absent: nothing holds the agent to its tools. */
  readonly as?: string;
}

/**
 * The tool that `allowed` leaves out and that nothing keeps the agent from; null: there is none. A program runs in a shell of the
 * sandbox, with which it can do what the other tools do. An agent whose tools are the task's own asks for no other, and a pack
 * says how its program is held to them.
 */
export function toolLeftOut(
  kind: DirectorTask["kind"],
  allowed: readonly string[],
  agent: AgentSpec,
): ToolLeftOut | null {
  const isHeld = agent.kind === "pack" && agent.honours_tools === true;
  const isGiven =
    agent.kind === "replay" || (agent.kind === "scripted" && (agent.commands ?? []).length === 0);
  if (kind === "git" || isHeld || isGiven || allowed.includes("bash")) return null;
  const names: Names | undefined = agent.kind === "pack" ? agent.task_tools?.names : undefined;
  return names === undefined ? { tool: "bash" } : sharedTool(allowed, names);
}

type Names = { readonly [tool in TaskTool]?: readonly string[] };

function sharedTool(allowed: readonly string[], names: Names): ToolLeftOut | null {
  for (const tool of TASK_TOOL_NAMES.filter((one) => !allowed.includes(one)))
    for (const as of TASK_TOOL_NAMES.filter((one) => allowed.includes(one)))
      if (names[tool]?.some((name) => names[as]?.includes(name) === true) === true) return { tool, as };
  return null;
}

/** The agent with the switches that hold its program to the tools of a task; unchanged where the task has a shell. */
export function heldToTools(agent: AgentOf<"pack">, allowed: readonly string[]): AgentOf<"pack"> {
  if (agent.task_tools === undefined || allowed.includes("bash")) return agent;
  const { each = "${tool}", between = ",", argv = [], env = {} } = agent.task_tools;
  const names: Names = agent.task_tools.names;
  const own = TASK_TOOL_NAMES.flatMap((tool) => (allowed.includes(tool) ? (names[tool] ?? []) : []));
  const list = [...new Set(own)].map((name) => each.replaceAll("${tool}", name)).join(between);
  const filled = (text: string): string => text.replaceAll("${task_tools}", list);
  const variables = Object.entries(env).map(([name, value]) => [name, filled(value)] as const);
  return {
    ...agent,
    argv: [...agent.argv, ...argv.map(filled)],
    ...(agent.resume === undefined ? {} : { resume: [...agent.resume, ...argv.map(filled)] }),
    env: { ...agent.env, ...Object.fromEntries(variables) },
  };
}

/** The first tool of a task that there is not; a task of git has its verb for a tool. */
export function unknownTool(kind: TaskKind | undefined, own: readonly string[] = []): string | null {
  const known: readonly string[] = TASK_TOOL_NAMES;
  return kind === "git" ? null : (own.find((tool) => !known.includes(tool)) ?? null);
}

/** The tools of a task: its own, else those of its kind that its run has. */
export function toolsOf(
  kind: TaskKind,
  own: readonly string[] | undefined,
  ofRun: readonly string[] | undefined,
): string[] {
  return [...(own ?? TASK_TOOLS[kind].filter((tool) => ofRun?.includes(tool) !== false))];
}
