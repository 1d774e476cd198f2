/**
 * The pack agent runs an installed coding agent. The agent is told its task in plain words, edits the work tree, and reports
 * success by exit code 0. Its own files do not become part of the change.
 */
import type { AgentOf } from "@antiphon/contracts";
import { literalGlob } from "@antiphon/git";
import { NO_CHANGE } from "../ports.ts";
import type { Agent } from "../ports.ts";
import { promptOf } from "./prompt.ts";

export function packAgent(spec: AgentOf<"pack">): Agent {
  return {
    prepare({ dispatch, epoch, ...diffs }) {
      const prompt = promptOf(dispatch, epoch, diffs);
      const argv = spec.prompt === "argument" ? [...spec.argv, prompt] : spec.argv;
      return Promise.resolve({
        kind: "work",
        change: NO_CHANGE,
        steps: [{ command: spec.name, argv, env: spec.env, stdin: spec.prompt === "stdin" ? prompt : "" }],
        selfVerify: true,
        isProgram: true,
        transcript: null,
        note: `ran the agent ${spec.name}`,
        junk: [...spec.junk, ...(spec.asks?.file === undefined ? [] : [literalGlob(spec.asks.file)])],
        ...(spec.asks === undefined ? {} : { asks: spec.asks }),
        ...(spec.transcript === undefined ? {} : { account: spec.transcript }),
      });
    },
  };
}
