// Tries an agent pack: a short run that installs it in a sandbox and asks its program for its version. It calls no model.
import { packAgent } from "@antiphon/contracts/runs/pack-agent";
import type { AgentPack } from "@antiphon/contracts/settings/agent-pack";
import type { Intent } from "@antiphon/contracts";
import type { CliContext } from "../context.ts";

export interface PackTrial {
  readonly works: boolean;
  readonly runId: string;
  readonly said: string;
}

export async function runToEnd(context: CliContext, pack: AgentPack, repo: string): Promise<PackTrial> {
  const { ensureGateway } = await import("../gateway/local-gateway.ts");
  const { follow } = await import("../runs/follow.ts");
  const { startRun } = await import("../runs/start-run.ts");
  await ensureGateway(context);
  const gateway = await context.gateway();
  const runId = await startRun(gateway, trialOf(pack, repo), null);
  const { summary } = await follow(context, runId, { logs: false, jsonLines: false, quiet: true });
  const works = summary.status === "succeeded";
  const program = triedOf(pack.argv).join(" ");
  return { works, runId, said: works ? `\`${program} --version\` runs in the sandbox` : summary.message };
}

/**
 * The program without its options. A shell that prepares the agent and then becomes it says nothing about the agent, so the
 * program after `exec` is tried; an interpreter says nothing without the pack's own file that it runs.
 */
function triedOf([first = "", option = "", script = ""]: readonly string[]): string[] {
  if (option.startsWith("${files}/")) return [first, option];
  return [programOf([first, option, script])];
}

function programOf([first = "", option, script = ""]: readonly string[]): string {
  if (first !== "sh" || option !== "-c") return first;
  const words = script.split(/\s/);
  const at = words.lastIndexOf("exec");
  return (at === -1 ? undefined : words[at + 1]) ?? first;
}

/** Nothing is to be changed, and nothing can land. */
export function trialOf(pack: AgentPack, repo: string): Intent {
  // The program is asked for its version, which needs no model and so no budget.
  const { model: _none, ...agent } = packAgent({
    ...pack,
    argv: [...triedOf(pack.argv), "--version"],
    prompt: "stdin",
  });
  return {
    goal: `Try the agent pack ${pack.name}`,
    inputs: {
      repo,
      agent,
      checks: ["true"],
      workflow: "REVIEW",
      // A task of its own: the one that the Router would plan for a review has to deliver findings.
      tasks: [{ id: 1, description: `Run ${pack.name} once`, dependencies: [], kind: "run" }],
      setup: [],
    },
    constraints: { max_attempts: 1, allow_dirty: true },
  };
}
