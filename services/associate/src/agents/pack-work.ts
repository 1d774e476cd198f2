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
    ...(spec.transcript === undefined ? {} : { account: spec.transcript }),
  };
}
