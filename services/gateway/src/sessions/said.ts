// An event of a session before it has its sequence and time, and what its entry holds besides. Pure.
import type { BlobRef, SessionEvent, SessionWorkspace } from "@antiphon/contracts";

export type Said = Pick<SessionEvent, "event" | "payload"> & {
  readonly workspace?: SessionWorkspace | null;
  readonly artifact?: BlobRef;
};
