/**
 * `message`: what a person tells an attempt that is under way. Messages are numbered by the run, so two people never write one
 * register, and each is about the attempt that ran when it was accepted: the gateway appends it only if the run has no record
 * that it does not know, so a message is never accepted for an attempt whose result is on record.
 *
 * Its life: accepted (this record) -> read by that attempt (its `result` names it) | in the brief of the next attempt of the task.
 * Nothing but the record carries it, so it survives the restart of any process, and whoever gets the task reads it again.
 */
import { Type, type Static } from "typebox";
import { limits } from "../limits.ts";
import { Epoch, TaskId } from "../shapes/ids.ts";
import { closed } from "../shapes/shape.ts";

/** Any text but controls other than line break and tab, which a terminal or a shell would take for something else. */
export const MessageText = Type.String({
  minLength: 1,
  maxLength: limits.messageChars,
  pattern: "^[^\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f]*$",
  description: "What the attempt is told. It is on record for good, so it is no place for a secret.",
});

/** A word of the sender's choice: the same one again is the same message. */
export const MessageKey = Type.String({ pattern: "^[A-Za-z0-9_-]{1,64}$" });

export const MessageBody = closed(
  {
    task: TaskId,
    attempt: Epoch,
    text: MessageText,
    by: Type.String({ minLength: 1, maxLength: 256 }),
    key: Type.Optional(MessageKey),
  },
  {
    description:
      "A person told an attempt something while it ran. The epoch counts the messages of a run: 1, 2, ... Written by the gateway.",
  },
);
export type MessageBody = Static<typeof MessageBody>;
