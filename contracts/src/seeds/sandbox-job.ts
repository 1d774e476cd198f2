/**
 * SandboxJob and SandboxResult (seed 002, RFC 000). v0 is the RFC's own form. v1 is Antiphon's extension: files with
 * bytes and an executable bit, and all providers of the table. v0 stays readable: `upcast` turns it into
 * v1. Antiphon's own services use sandbox-rpc.ts.
 */
import { Type, type Static, type TSchema } from "typebox";
import { closed, oneOf } from "../shapes/shape.ts";
import { FileMode, SandboxProvider } from "../rpc/sandbox-rpc.ts";

const filesOf = <T extends TSchema>(item: T) =>
  Type.Record(Type.String(), item, { description: "By path. Canonically sorted before it is persisted." });

const jobOf = <T extends TSchema>(file: T) =>
  closed(
    {
      imageOrTemplate: Type.String({ minLength: 1, description: "Container image or provider template." }),
      cmd: Type.String({ minLength: 1, description: "Run by a shell in the sandbox." }),
      files: filesOf(file),
      env: Type.Record(Type.String(), Type.String(), { description: "Environment of the command." }),
      timeoutMs: Type.Number({
        exclusiveMinimum: 0,
        description: "Milliseconds; at the limit the sandbox is killed.",
      }),
    },
    { description: "One command in one sandbox (seed 002)." },
  );

const resultOf = <T extends TSchema, P extends TSchema>(file: T, provider: P) =>
  closed(
    {
      exitCode: Type.Number({ description: "Exit code of the command." }),
      stdout: Type.String(),
      stderr: Type.String(),
      files: filesOf(file),
      meta: closed({
        bootMs: Type.Number({ minimum: 0, description: "Milliseconds from request to running." }),
        provider,
      }),
    },
    { description: "Outcome of a SandboxJob (seed 002)." },
  );

const text = Type.String();

export const SandboxJob = jobOf(text);
export type SandboxJob = Static<typeof SandboxJob>;

export const SandboxResult = resultOf(text, oneOf(["microsandbox", "e2b"]));
export type SandboxResult = Static<typeof SandboxResult>;

export const SandboxJobFile = closed({
  content: Type.String(),
  encoding: oneOf(["utf8", "base64"]),
  mode: FileMode,
});
export type SandboxJobFile = Static<typeof SandboxJobFile>;

export const SandboxJobV1 = jobOf(SandboxJobFile);
export type SandboxJobV1 = Static<typeof SandboxJobV1>;

export const SandboxResultV1 = resultOf(SandboxJobFile, SandboxProvider);
export type SandboxResultV1 = Static<typeof SandboxResultV1>;

/** The port of a sandbox provider. There is no host-exec fallback in production mode. */
export interface SandboxClient {
  run(job: SandboxJobV1): Promise<SandboxResultV1>;
}
