/** A session's command at the Director: what it is given and what it makes. */
import type { ArtifactKind, Command, CommandName, ErrorCode, SessionDeedRequest } from "@antiphon/contracts";
import type { SessionWorkspace, WorkItemDetails, WorkItemSummary } from "@antiphon/contracts";

export interface MadeArtifact {
  readonly kind: ArtifactKind;
  readonly bytes: Buffer;
  readonly pathHint: string;
}

export interface DeedResult {
  readonly workspace: SessionWorkspace | null;
  readonly message: string;
  /** Absent: the command succeeded. */
  readonly code?: ErrorCode;
  readonly artifacts?: readonly MadeArtifact[];
  readonly conflict?: { readonly details: string; readonly patchContent?: string };
  readonly items?: WorkItemSummary[];
  readonly details?: WorkItemDetails;
  readonly throttled?: { readonly scope: string; readonly retryAfter: string };
}

/** The request of one kind of command. */
export type DeedOf<N extends CommandName> = Omit<SessionDeedRequest, "command"> & {
  readonly commandId: string;
  readonly payload: Extract<Command, { command: N }>["payload"];
};

export type Deed<N extends CommandName> = (deed: DeedOf<N>, signal: AbortSignal) => Promise<DeedResult>;
