/** Contracts v1.3 (seed 004): the commands. Each is a plain record; `Command` is the envelope they travel in. */
import { Type, type Static, type TObject } from "typebox";
import { RepoRef } from "../shapes/refs.ts";
import { closed } from "../shapes/shape.ts";
import { CommandId, Correlation, IsoDuration, WorkItemRef } from "./v13-refs.ts";

const text = Type.String();
const name = Type.String({ minLength: 1 });
const branch = Type.String({ minLength: 1, maxLength: 255 });

export const CreateBranch = closed({ repo: RepoRef, branchName: branch, fromRef: Type.Optional(branch) });
export const ApplyPatch = closed({ repo: RepoRef, patchContent: text });
export const RunTests = closed({
  repo: RepoRef,
  filter: Type.Optional(text),
  timeout: Type.Optional(IsoDuration),
});
export const Commit = closed({
  repo: RepoRef,
  message: text,
  includePaths: Type.Array(name),
  amend: Type.Optional(Type.Boolean({ default: false })),
});
export const Push = closed({ repo: RepoRef, branchName: branch });
export const GetDiff = closed({
  repo: RepoRef,
  ref: Type.Optional(Type.String({ minLength: 1, default: "HEAD" })),
});
export const BuildProject = closed({
  repo: RepoRef,
  projectPath: name,
  configuration: Type.Optional(text),
  targetFramework: Type.Optional(text),
  targets: Type.Optional(Type.Array(text)),
  timeout: Type.Optional(IsoDuration),
});
export const TransitionTicket = closed({ item: WorkItemRef, state: name });
export const Comment = closed({ item: WorkItemRef, body: text });
export const SetAssignee = closed({ item: WorkItemRef, assignee: name });
export const UploadArtifact = closed({
  name,
  contentType: name,
  content: Type.String({
    pattern: "^[A-Za-z0-9+/]*={0,2}$",
    description: "Bytes as base64 (how .NET writes byte[]).",
  }),
});
export const RequestApproval = closed({ reason: text, requiredActions: Type.Array(text) });
export const QueryBacklog = closed({ filter: Type.Optional(text) });
export const QueryWorkItem = closed({ item: WorkItemRef });

/** By name. The two reserved commands are left out on purpose. */
export const COMMANDS = {
  CreateBranch,
  ApplyPatch,
  RunTests,
  Commit,
  Push,
  GetDiff,
  BuildProject,
  TransitionTicket,
  Comment,
  SetAssignee,
  UploadArtifact,
  RequestApproval,
  QueryBacklog,
  QueryWorkItem,
} as const;
export type CommandName = keyof typeof COMMANDS;

/** Named by the seed but without a meaning yet. They are refused with ANT_CONTRACT_RESERVED. */
export const RESERVED_COMMANDS = ["SpawnSession", "LinkPlanNode"] as const;

const envelope = <N extends string, P extends TObject>(command: N, payload: P) =>
  closed({ command: Type.Literal(command), commandId: CommandId, correlation: Correlation, payload });

export const Command = Type.Union(
  Object.entries(COMMANDS).map(([command, payload]) => envelope(command, payload)),
  { description: "The envelope of a command: its name, id, correlation and record." },
);
export type Command = {
  [N in CommandName]: {
    command: N;
    commandId: string;
    correlation: Correlation;
    payload: Static<(typeof COMMANDS)[N]>;
  };
}[CommandName];
