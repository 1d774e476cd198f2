/**
 * The command agent runs any program of the sandbox image. The program gets the brief as JSON on standard input, edits the
 * work tree in its working directory, and reports success by exit code 0.
 */
import type { AgentOf } from "@antiphon/contracts";
import { NO_CHANGE } from "../ports.ts";
import type { Agent } from "../ports.ts";

export function commandAgent(spec: AgentOf<"command">): Agent {
  const command = spec.argv
    .map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : JSON.stringify(word)))
    .join(" ");
  return {
    prepare: () =>
      Promise.resolve({
        kind: "work",
        change: NO_CHANGE,
        steps: [{ command, argv: spec.argv }],
        goesOn: { argv: spec.argv, toldBy: "stdin", told: "brief" },
        selfVerify: true,
        isProgram: true,
        transcript: null,
        note: `ran ${command.length > 80 ? `${command.slice(0, 77)}...` : command}`,
      }),
  };
}
