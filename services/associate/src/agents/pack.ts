/**
 * The pack agent runs an installed coding agent. The agent is told its task in plain words, edits the work tree, and reports
 * success by exit code 0. Its own files do not become part of the change.
 */
import { heldToTools, type AgentOf } from "@antiphon/contracts";
import type { Agent } from "../ports.ts";
import { compileWork } from "./compile.ts";
import { packWork } from "./pack-work.ts";
import { promptOf } from "./prompt.ts";

export function packAgent(agent: AgentOf<"pack">): Agent {
  return {
    async prepare(context) {
      const spec = heldToTools(agent, context.dispatch.task.allowed_tools);
      if (spec.prompt === "compile") return compileWork(spec, context);
      const { dispatch, epoch, ...diffs } = context;
      const prompt = promptOf(dispatch, epoch, diffs);
      return spec.prompt === "stdin"
        ? packWork(spec, { stdin: prompt })
        : packWork(spec, { stdin: "", word: prompt });
    },
  };
}
