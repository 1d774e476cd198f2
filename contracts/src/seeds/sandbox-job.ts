/** SandboxJob and SandboxResult v0 (seed 002, RFC 000). Antiphon's own services speak sandbox-rpc.ts. */
import { Type, type Static } from "typebox";
import { closed, oneOf } from "../shape.ts";

const TextMap = (description: string) => Type.Record(Type.String(), Type.String(), { description });

export const SandboxJob = closed(
  {
    imageOrTemplate: Type.String({ minLength: 1, description: "Container image or provider template." }),
    cmd: Type.String({ minLength: 1, description: "Run by a shell in the sandbox." }),
    files: TextMap("Path to UTF-8 text. Canonically sorted before it is persisted."),
    env: TextMap("Environment of the command."),
    timeoutMs: Type.Number({
      exclusiveMinimum: 0,
      description: "Milliseconds; the sandbox is killed at the bound.",
    }),
  },
  { description: "One command in one sandbox (seed 002)." },
);
export type SandboxJob = Static<typeof SandboxJob>;

export const SandboxProvider = oneOf(["microsandbox", "e2b", "docker", "bubblewrap"], {
  description: "v0 knew microsandbox and e2b; docker and bubblewrap are Antiphon's (DESIGN section 9).",
});

export const SandboxResult = closed(
  {
    exitCode: Type.Number({ description: "Exit code of the command." }),
    stdout: Type.String(),
    stderr: Type.String(),
    files: TextMap("Path to UTF-8 text, canonically sorted."),
    meta: closed({
      bootMs: Type.Number({ minimum: 0, description: "Milliseconds from request to running." }),
      provider: SandboxProvider,
    }),
  },
  { description: "Outcome of a SandboxJob (seed 002)." },
);
export type SandboxResult = Static<typeof SandboxResult>;

/** The port of a sandbox provider. There is no host-exec fallback in production mode. */
export interface SandboxClient {
  run(job: SandboxJob): Promise<SandboxResult>;
}
