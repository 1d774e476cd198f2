// An event of a session before it has its sequence and time, and what its entry holds besides. Pure.
import type { AskedUnder, BlobRef, Command, SessionEvent, SessionWorkspace } from "@antiphon/contracts";

export type Said = Pick<SessionEvent, "event" | "payload"> & {
  readonly workspace?: SessionWorkspace | null;
  readonly artifact?: BlobRef;
  readonly policy?: AskedUnder;
};

export function completed(
  { commandId }: Command,
  outcome: "Success" | "Failure",
  message: string,
  errorCode?: string,
): Said {
  const code = errorCode === undefined ? {} : { errorCode };
  return { event: "CommandCompleted", payload: { commandId, outcome, message, ...code } };
}
