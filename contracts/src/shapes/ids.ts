/** The forms of the names that cross process boundaries. */
import { Type } from "typebox";

export const RunId = Type.String({
  pattern: "^run_[a-z0-9]{1,32}$",
  description: "One execution of an intent: `run_` and up to 32 lower-case letters or digits.",
});
export type RunId = string;

export const IntentId = Type.String({
  pattern: "^it_[a-z0-9]{1,32}$",
  description: "A stored intent. Derived from the intent's content, so the same body has the same id.",
});
export type IntentId = string;

export const TaskId = Type.String({
  pattern: "^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$",
  description: "A node of a run's graph: `T-001`, `task-001`. Lower case inside a subject.",
});
export type TaskId = string;

export const Epoch = Type.Integer({
  minimum: 0,
  maximum: 1_000_000,
  description: "The fencing number of an attempt. The first is 1; run-level records carry 0.",
});
export type Epoch = number;

export const Digest = Type.String({
  pattern: "^sha256-[A-Za-z0-9_-]{43}$",
  description: "`sha256-` and the base64url SHA-256 of the bytes.",
});
export type Digest = string;

export const CommitId = Type.String({
  pattern: "^[0-9a-f]{40}([0-9a-f]{24})?$",
  description: "A full git object id: 40 hex digits (SHA-1) or 64 (SHA-256).",
});
export type CommitId = string;

export const AssociateId = Type.String({
  minLength: 1,
  maxLength: 64,
  pattern: "^[A-Za-z0-9_.-]+$",
  description: "One associate process, for as long as it lives: `as_` and 10 lower-case letters or digits.",
});

export const ErrorCode = Type.String({
  pattern: "^ANT(_[A-Z0-9]+)+$",
  maxLength: 64,
  description: "An entry of the error table: `ANT_<AREA>_<CONDITION>`.",
});
