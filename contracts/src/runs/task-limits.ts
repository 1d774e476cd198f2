/** The tools, the network and the time of one task. A task can narrow those of its run, and never widen them. Pure. */
import type { DirectorTask, EgressProfile, TaskKind } from "../seeds/director-task.ts";
import type { AgentSpec } from "./agents.ts";

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

/**
 * The tool that `allowed` leaves out and that nothing keeps the agent from; null: there is none. A program runs in a shell of the
 * sandbox, with which it can do what the other tools do. An agent whose tools are the task's own asks for no other.
 */
export function toolLeftOut(
  kind: DirectorTask["kind"],
  allowed: readonly string[],
  agent: AgentSpec,
): string | null {
  const isHeld = agent.kind === "pack" && agent.honours_tools === true;
  const isGiven =
    agent.kind === "replay" || (agent.kind === "scripted" && (agent.commands ?? []).length === 0);
  return kind === "git" || isHeld || isGiven || allowed.includes("bash") ? null : "bash";
}
