/** The work of an installed agent, in whatever way it is told its task. Pure. */
import type { AgentOf } from "@antiphon/contracts";
import { literalGlob } from "@antiphon/git";
import { NO_CHANGE } from "../ports.ts";
import type { PreparedWork } from "../ports.ts";

interface Told {
  readonly stdin: string;
  /** One more word of its command. Default: none. */
  readonly word?: string;
  /** Besides its own variables. Default: none. */
  readonly env?: Readonly<Record<string, string>>;
}

/** An agent that compiles is asked with one request, so it cannot be told the task once more in words; the answer it can. */
function goesOn({ argv, resume, prompt }: AgentOf<"pack">): Pick<PreparedWork, "goesOn"> {
  if (prompt === "compile")
    return resume === undefined ? {} : { goesOn: { argv: resume, toldBy: "stdin", told: "answer" } };
  const told = resume === undefined ? "prompt" : "answer";
  return { goesOn: { argv: resume ?? argv, toldBy: prompt, told } };
}

export function packWork(spec: AgentOf<"pack">, { stdin, word, env }: Told): PreparedWork {
  const argv = word === undefined ? spec.argv : [...spec.argv, word];
  return {
    kind: "work",
    change: NO_CHANGE,
    steps: [{ command: spec.name, argv, env: { ...spec.env, ...env }, stdin }],
    selfVerify: true,
    isProgram: true,
    transcript: null,
    note: `ran the agent ${spec.name}`,
    junk: [...spec.junk, ...(spec.asks?.file === undefined ? [] : [literalGlob(spec.asks.file)])],
    ...(spec.asks === undefined ? {} : { asks: spec.asks }),
    ...goesOn(spec),
    ...(spec.transcript === undefined ? {} : { account: spec.transcript }),
    ...(spec.usage === undefined ? {} : { usage: spec.usage }),
  };
}
