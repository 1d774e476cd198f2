/**
 * Sessions: one sandbox, many commands (`antiphon.v1.rpc.sandbox.session.*`). `open` goes to any runner; everything after
 * it goes to the runner that answered, by its node. Each request is answered by a stream of events that ends with
 * `busy`, `opened`, `exit`, `collected`, `done` or `over`. Bytes are base64, so that a person can read tapped messages.
 */
import { Type, type Static } from "typebox";
import { BlobRef } from "../shapes/refs.ts";
import {
  OutputRef,
  SandboxChanges,
  SandboxFile,
  SandboxLimits,
  SandboxOutcome,
  SandboxWorkspace,
} from "./sandbox-rpc.ts";
import { closed, nullable, oneOf } from "../shapes/shape.ts";

const SessionId = Type.String({ pattern: "^[a-z0-9][a-z0-9_-]{0,63}$" });
const ExecId = Type.String({ pattern: "^[a-z0-9][a-z0-9_-]{0,63}$" });
const Bytes = Type.String({
  pattern: "^[A-Za-z0-9+/]*={0,2}$",
  maxLength: 512 * 1024,
  description: "Base64.",
});

export const SandboxSessionOpen = closed(
  {
    sessionId: SessionId,
    run: Type.String({ minLength: 1 }),
    task: Type.String({ minLength: 1 }),
    epoch: Type.Integer({
      minimum: 0,
      description: "A session with a newer epoch of the same task ends the older ones.",
    }),
    image: nullable(Type.String({ minLength: 1 }), { description: "null: the runner's default." }),
    budgetMs: Type.Integer({ minimum: 1, description: "For the whole session." }),
    workspace: SandboxWorkspace,
    limits: Type.Optional(SandboxLimits),
  },
  { description: "Asks for a sandbox that stays open. Changes are never judged in a session." },
);
export type SandboxSessionOpen = Static<typeof SandboxSessionOpen>;

export const SandboxSessionExec = closed(
  {
    sessionId: SessionId,
    execId: ExecId,
    argv: Type.Array(Type.String(), { minItems: 1, maxItems: 256 }),
    cwd: Type.Optional(Type.String({ description: "Relative to /workspace." })),
    env: Type.Record(Type.String(), Type.String()),
    hasInput: Type.Boolean({ description: "Input follows as SandboxSessionInput; otherwise it is empty." }),
    timeoutMs: Type.Integer({
      minimum: 1,
      description: "When it is over, the command is killed, not the session.",
    }),
    stream: Type.Boolean({
      description: "Send output as it comes; `exit` contains its tail in either case.",
    }),
    keep: Type.Boolean({ description: "Keep the output in the object store." }),
  },
  { description: "One command. Commands of a session run one after the other." },
);
export type SandboxSessionExec = Static<typeof SandboxSessionExec>;

export const SandboxSessionInput = closed(
  {
    sessionId: SessionId,
    execId: ExecId,
    seq: Type.Integer({
      minimum: 0,
      description: "0, 1, 2 ...; repeated with the same number if there was no answer.",
    }),
    data: Bytes,
    end: Type.Boolean(),
  },
  { description: "A piece of a command's input; answered when there is room for the next piece." },
);
export type SandboxSessionInput = Static<typeof SandboxSessionInput>;

export const SandboxSessionWrite = closed(
  {
    sessionId: SessionId,
    files: Type.Array(SandboxFile, { maxItems: 2000 }),
    overlay: nullable(BlobRef, { description: "Tar of files that are too large for the message." }),
    deletions: Type.Array(Type.String({ minLength: 1, maxLength: 1024 }), { maxItems: 20_000 }),
  },
  { description: "Deletions, then the overlay, then files, in /workspace." },
);
export type SandboxSessionWrite = Static<typeof SandboxSessionWrite>;

export const SandboxSessionRef = closed(
  { sessionId: SessionId },
  { description: "Collect the changes since the session was opened, or close it." },
);
export type SandboxSessionRef = Static<typeof SandboxSessionRef>;

export const SandboxSessionSignal = Type.Union(
  [
    closed({
      kind: Type.Literal("alive"),
      sessionId: SessionId,
      execId: nullable(ExecId),
      taken: Type.Integer({ minimum: 0, description: "Bytes of that command's output read so far." }),
    }),
    closed({ kind: Type.Literal("kill"), sessionId: SessionId, execId: ExecId }),
  ],
  {
    description:
      "A message of a session's holder to its runner, at least every 2 s; otherwise the lease expires.",
  },
);
export type SandboxSessionSignal = Static<typeof SandboxSessionSignal>;

const outcomes = SandboxOutcome.properties;

export const SandboxSessionExit = closed(
  {
    exitCode: Type.Integer({ description: "128 plus the signal's number if a signal killed it." }),
    signal: Type.Integer({ minimum: 0 }),
    timedOut: Type.Boolean(),
    durationMs: Type.Number({ minimum: 0 }),
    code: outcomes.code,
    stdout: OutputRef,
    stderr: OutputRef,
  },
  { description: "How a command ended. `code` names the limit it reached, if any." },
);
export type SandboxSessionExit = Static<typeof SandboxSessionExit>;

export const SandboxSessionEvent = Type.Union(
  [
    closed({ kind: Type.Literal("beat") }),
    closed({ kind: Type.Literal("busy"), retryAfterMs: Type.Integer({ minimum: 0 }) }),
    closed({
      kind: Type.Literal("opened"),
      node: Type.String({
        minLength: 1,
        description: "Last token of the subjects of this session's runner.",
      }),
      image: Type.String(),
      containerId: Type.String(),
      provider: outcomes.meta.properties.provider,
      bootMs: Type.Number({ minimum: 0 }),
    }),
    closed({
      kind: Type.Literal("output"),
      seq: Type.Integer({ minimum: 0 }),
      stream: oneOf(["stdout", "stderr"]),
      data: Bytes,
    }),
    closed({ kind: Type.Literal("exit"), exit: SandboxSessionExit }),
    closed({ kind: Type.Literal("collected"), changes: SandboxChanges }),
    closed({ kind: Type.Literal("done") }),
    closed({
      kind: Type.Literal("over"),
      outcome: outcomes.outcome,
      code: Type.String({ pattern: "^ANT_[A-Z0-9_]+$" }),
      message: Type.String(),
    }),
  ],
  { description: "One message of a runner's answer about a session. `over`: the session has ended." },
);
export type SandboxSessionEvent = Static<typeof SandboxSessionEvent>;
