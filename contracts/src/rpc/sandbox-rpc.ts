/**
 * Messages between services and the sandbox-runner on `antiphon.v1.rpc.sandbox.*`. The runner answers a request with a
 * stream of events that ends with `done`, or with `busy` if the requester should ask elsewhere or later.
 */
import { Type, type Static } from "typebox";
import { limits } from "../limits.ts";
import { ServiceName, Services } from "../settings/service-spec.ts";
import { PROVIDER_NAMES, type ProviderName } from "../settings/sandbox-providers.ts";
import { MessageText } from "../journal/message.ts";
import { EgressGrant, EgressReport } from "./egress-rpc.ts";
import { EnvironmentReport, EnvironmentSpec } from "./environment.ts";
import { BlobRef } from "../shapes/refs.ts";
import { closed, nullable, oneOf } from "../shapes/shape.ts";

export const SandboxProvider = oneOf<ProviderName[]>(PROVIDER_NAMES);

export const FileMode = oneOf(["100644", "100755"], {
  description: "Regular or executable; there are no other modes.",
});
export type FileMode = Static<typeof FileMode>;

const path = Type.String({ minLength: 1, maxLength: 1024, description: "Relative to /workspace." });

export const SandboxFile = closed(
  {
    path,
    content: Type.String(),
    encoding: oneOf(["utf8", "base64"]),
    mode: FileMode,
  },
  { description: "A file inside the message." },
);
export type SandboxFile = Static<typeof SandboxFile>;

export const SandboxWorkspace = closed(
  {
    tree: nullable(Type.String({ minLength: 1 }), {
      description: "Object in `ANT_REPOS`; null: start empty.",
    }),
    linked: Type.Optional(
      Type.String({
        minLength: 1,
        description: "Object in `ANT_REPOS` with files of submodules and of Git LFS, laid over the tree.",
      }),
    ),
    git: Type.Optional(
      Type.String({
        minLength: 1,
        description: "Object in `ANT_REPOS` with a `.git` directory for the tree. Default: there is none.",
      }),
    ),
    files: Type.Array(SandboxFile, { maxItems: 2000 }),
    overlay: nullable(BlobRef, { description: "Tar of the changed files." }),
    deletions: Type.Array(path, { maxItems: 20_000 }),
    environment: Type.Optional(EnvironmentSpec),
  },
  {
    description:
      "The contents of /workspace: the environment, under the tree with its linked files, minus deletions, plus the overlay, plus files, in this order.",
  },
);
export type SandboxWorkspace = Static<typeof SandboxWorkspace>;

export const SandboxStep = closed(
  {
    id: Type.String({ minLength: 1, maxLength: 64 }),
    argv: Type.Array(Type.String(), { minItems: 1, maxItems: 256 }),
    cwd: Type.Optional(Type.String({ description: "Relative to /workspace." })),
    env: Type.Record(Type.String(), Type.String()),
    stdin: Type.Optional(Type.String()),
    timeoutMs: Type.Integer({ minimum: 1 }),
    continueOnFailure: Type.Boolean({ description: "Continue with the next step after a non-zero exit." }),
    quiet: Type.Optional(
      Type.Boolean({ description: "Leave its output out of the live log; it is still kept." }),
    ),
    asks: Type.Optional(
      Type.Boolean({ description: "The command may ask a person; `antiphon-ask` is on its PATH." }),
    ),
  },
  { description: "One command." },
);
export type SandboxStep = Static<typeof SandboxStep>;

export const SandboxLimits = closed(
  {
    memoryBytes: Type.Optional(Type.Integer({ minimum: 1 })),
    cpus: Type.Optional(Type.Number({ exclusiveMinimum: 0 })),
    pids: Type.Optional(Type.Integer({ minimum: 1 })),
    workspaceBytes: Type.Optional(Type.Integer({ minimum: 1 })),
    outputBytes: Type.Optional(Type.Integer({ minimum: 0, description: "Bytes kept per stream." })),
  },
  {
    description:
      "Tighter limits than the runner's own. Looser ones are refused, except memory up to limits.sandboxMemoryMostBytes.",
  },
);
export type SandboxLimits = Static<typeof SandboxLimits>;

export const SandboxTrials = closed(
  {
    least: Type.Integer({ minimum: 1, maximum: 64, description: "Trials regardless of their time." }),
    most: Type.Integer({ minimum: 1, maximum: 64 }),
    withinMs: Type.Integer({
      minimum: 0,
      description: "After `least`, a trial begins only while the trials took less than this.",
    }),
  },
  {
    description:
      "Run all steps several times, each trial on the same files and with a budget of its own, until two trials differ in which steps fail.",
  },
);
export type SandboxTrials = Static<typeof SandboxTrials>;

export const SandboxMessage = closed(
  {
    number: Type.Integer({ minimum: 1, description: "Of the messages of this job." }),
    text: MessageText,
    look: Type.Integer({
      minimum: 0,
      description: "It is given at this look at the inbox, from 1, and not before; 0: at the next one.",
    }),
  },
  { description: "A message of a person to the command that works." },
);
export type SandboxMessage = Static<typeof SandboxMessage>;

export const SandboxRequest = closed(
  {
    jobId: Type.String({ pattern: "^[a-z0-9][a-z0-9_-]{0,63}$" }),
    run: Type.String({ minLength: 1 }),
    task: Type.String({ minLength: 1 }),
    epoch: Type.Integer({ minimum: 0 }),
    purpose: oneOf(["attempt", "verify", "base", "prepare"], {
      description: "`prepare`: make sure that the workspace's environment exists; no step runs.",
    }),
    image: nullable(Type.String({ minLength: 1 }), { description: "null: the runner's default." }),
    budgetMs: Type.Integer({ minimum: 1, description: "For all steps together." }),
    workspace: SandboxWorkspace,
    steps: Type.Array(SandboxStep, { maxItems: 128, description: "None for `prepare`, else at least one." }),
    collect: Type.Boolean({ description: "Return the changes in /workspace." }),
    collectAfter: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        description:
          "Id of the step after which changes are collected, so that files left by later checks are not included. Default: the last step.",
      }),
    ),
    limits: Type.Optional(SandboxLimits),
    egress: Type.Optional(EgressGrant),
    again: Type.Optional(
      Type.Boolean({ description: "Prepare the environment although it could not be prepared before." }),
    ),
    trials: Type.Optional(SandboxTrials),
    traced: Type.Optional(
      Type.Array(path, {
        maxItems: limits.tracedFiles,
        description: "For a job of trials: files of which `written.read` tells whether a step opened them.",
      }),
    ),
    tracedTree: Type.Optional(
      Type.Boolean({
        description:
          "For a job of trials, in place of `traced`: `written.read` tells all files of the workspace that a step opened, or is absent.",
      }),
    ),
    spare: Type.Optional(
      Type.Boolean({
        description: "Nobody waits for it: take no last free slot and no last warm sandbox of a runner.",
      }),
    ),
    services: Type.Optional(Services),
    messages: Type.Optional(
      Type.Array(SandboxMessage, {
        maxItems: limits.runMessages,
        description: "In its inbox before the first command that `asks`, numbered from 1.",
      }),
    ),
  },
  { description: "A few commands in one sandbox." },
);
export type SandboxRequest = Static<typeof SandboxRequest>;

export const OutputRef = closed(
  {
    blob: nullable(BlobRef),
    bytes: Type.Integer({ minimum: 0, description: "Produced." }),
    kept: Type.Integer({ minimum: 0, description: "Bytes kept in the blob." }),
    truncated: Type.Boolean(),
    tail: Type.String({ description: "The last 2 KiB, as UTF-8." }),
  },
  { description: "Output of one stream of one step." },
);
export type OutputRef = Static<typeof OutputRef>;

export const SandboxStepOutcome = closed({
  id: Type.String({ minLength: 1 }),
  exitCode: nullable(Type.Integer()),
  timedOut: Type.Boolean(),
  durationMs: Type.Number({ minimum: 0 }),
  stdout: OutputRef,
  stderr: OutputRef,
});
export type SandboxStepOutcome = Static<typeof SandboxStepOutcome>;

export const ChangedFile = closed({
  path,
  mode: FileMode,
  bytes: Type.Integer({ minimum: 0 }),
  sha256: Type.String({ pattern: "^[0-9a-f]{64}$" }),
});
export type ChangedFile = Static<typeof ChangedFile>;

export const SandboxChanges = closed({
  overlay: nullable(BlobRef, { description: "Tar of the changed files, in canonical order; null: none." }),
  files: Type.Array(ChangedFile),
  deletions: Type.Array(path),
});
export type SandboxChanges = Static<typeof SandboxChanges>;

const written = Type.Array(Type.String(), { description: "Sorted; at most limits.writtenPaths." });

export const SandboxWritten = closed(
  {
    changed: written,
    restored: written,
    made: written,
    complete: Type.Boolean({ description: "False if a list was cut, or the workspace could not be read." }),
    read: Type.Optional(
      Type.Array(Type.String(), {
        description:
          "The files of the request's `traced` that a trial opened and did not change, as far as the file system keeps the time of the last read. For `tracedTree`: absent if there are more than limits.writtenPaths, or the runner cannot tell.",
      }),
    ),
  },
  {
    description:
      "What all trials did to /workspace, compared by a supervisor that they cannot reach: files that are different or missing, files that were written and put back, and new files. Directories end with a slash; of a new one, only the names directly in it.",
  },
);
export type SandboxWritten = Static<typeof SandboxWritten>;

export const ServiceOutcome = closed(
  {
    name: ServiceName,
    image: Type.String({ minLength: 1 }),
    readyMs: nullable(Type.Number({ minimum: 0 }), { description: "null: it did not become ready." }),
    log: OutputRef,
  },
  { description: "A service that ran beside a job." },
);
export type ServiceOutcome = Static<typeof ServiceOutcome>;

export const SandboxOutcome = closed(
  {
    outcome: oneOf(["completed", "timeout", "oom", "canceled", "refused", "error"]),
    code: nullable(Type.String({ pattern: "^ANT_[A-Z0-9_]+$" })),
    message: Type.String(),
    steps: Type.Array(SandboxStepOutcome),
    changes: nullable(SandboxChanges),
    meta: closed({
      bootMs: Type.Number({ minimum: 0 }),
      provider: SandboxProvider,
      node: Type.String(),
      image: Type.String(),
      containerId: Type.String(),
    }),
    egress: Type.Optional(EgressReport),
    environment: Type.Optional(EnvironmentReport),
    trials: Type.Optional(
      Type.Array(Type.Array(SandboxStepOutcome), {
        maxItems: 63,
        description: "The trials after the first, which is `steps`. The last one may be incomplete.",
      }),
    ),
    written: Type.Optional(SandboxWritten),
    services: Type.Optional(Type.Array(ServiceOutcome, { maxItems: 256 })),
    heard: Type.Optional(
      Type.Array(closed({ number: Type.Integer({ minimum: 1 }), look: Type.Integer({ minimum: 1 }) }), {
        maxItems: limits.runMessages,
        description: "The messages that the commands read, and at which look at the inbox.",
      }),
    ),
  },
  { description: "How the job ended." },
);
export type SandboxOutcome = Static<typeof SandboxOutcome>;

export const SandboxEvent = Type.Union(
  [
    closed({ kind: Type.Literal("accepted"), node: Type.String(), image: Type.String() }),
    closed({ kind: Type.Literal("busy"), retryAfterMs: Type.Integer({ minimum: 0 }) }),
    closed({
      kind: Type.Literal("started"),
      bootMs: Type.Number({ minimum: 0 }),
      containerId: Type.String(),
    }),
    closed({ kind: Type.Literal("beat") }),
    closed(
      {
        kind: Type.Literal("question"),
        number: Type.Integer({ minimum: 1, description: "Of the questions of this job." }),
        text: Type.String({ maxLength: 4000 }),
        tree: Type.Optional(
          closed(
            { overlay: nullable(BlobRef), deletions: Type.Array(Type.String(), { maxItems: 2000 }) },
            { description: "What the commands have changed until then. Absent: it cannot be told." },
          ),
        ),
        step: Type.Optional(
          Type.Unsafe<SandboxStepOutcome>({
            ...SandboxStepOutcome,
            description:
              "The output of the command up to its question, without an exit code. Absent: the output is not known.",
          }),
        ),
      },
      { description: "A command waits for the answer; repeated until it comes." },
    ),
    closed(
      { kind: Type.Literal("told"), number: Type.Integer({ minimum: 1 }) },
      { description: "The message is in the inbox; without it the requester tells it again." },
    ),
    closed({ kind: Type.Literal("step"), id: Type.String(), exitCode: nullable(Type.Integer()) }),
    closed({
      kind: Type.Literal("done"),
      result: SandboxOutcome,
      signature: Type.Optional(
        Type.String({ description: "`<kid>.<signature>` of the runner over the request and the result." }),
      ),
    }),
  ],
  { description: "One message of the runner's answer." },
);
export type SandboxEvent = Static<typeof SandboxEvent>;

const SandboxAnswer = closed({
  kind: Type.Literal("answer"),
  number: Type.Integer({ minimum: 1, description: "Of the question." }),
  text: Type.String({ maxLength: limits.answerChars }),
  epoch: Type.Integer({ minimum: 1, description: "Of the attempt that goes on in the container." }),
});
export type SandboxAnswer = Static<typeof SandboxAnswer>;

export const SandboxSignal = Type.Union(
  [
    closed({ kind: Type.Literal("alive") }),
    SandboxAnswer,
    closed({ kind: Type.Literal("message"), message: SandboxMessage }),
    closed({ kind: Type.Literal("cancel"), collect: Type.Optional(Type.Boolean()) }),
  ],
  {
    description:
      "The requester's message on `antiphon.v1.rpc.sandbox.job.<jobId>`: alive every 2 s, the answer to a question, a message, or cancel. With `collect` only the command is stopped, and the outcome holds what it left.",
  },
);
export type SandboxSignal = Static<typeof SandboxSignal>;
