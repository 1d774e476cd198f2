/** Whether an agent reads messages of people while it works. Pure. */
import type { AgentSpec } from "./agents.ts";

export const INBOX_PROGRAM = "antiphon-inbox";

/** `commands`: those of the task, which a scripted agent without its own runs. */
export function hears(agent: AgentSpec, commands: readonly string[]): boolean {
  switch (agent.kind) {
    case "pack":
      return agent.hears === true;
    case "scripted":
      return (agent.commands ?? commands).some((command) => command.includes(INBOX_PROGRAM));
    case "command":
      return agent.argv.some((word) => word.includes(INBOX_PROGRAM));
    case "replay":
      return false;
  }
}
