/** The order for one attempt, and the two signals that stop it. */
import type { BlobRef, DispatchBody } from "@antiphon/contracts";
import type { LostBefore } from "../claim/lost-before.ts";
import type { Mailbox, Told } from "./mailbox.ts";

export interface AttemptOrder {
  readonly runId: string;
  readonly epoch: number;
  readonly dispatch: DispatchBody;
  readonly associate: string;
  /** Carried out once more: the job has a name of its own, and a record answers its model calls. */
  readonly replay?: {
    readonly id: string;
    readonly calls: readonly BlobRef[];
    /** Messages that it had in its brief, and those that it read later, with the look that read each. */
    readonly briefed: readonly Told[];
    readonly read: readonly (Told & { readonly look: number })[];
  };
  /** The earlier attempts, lost with their processes, from whose model calls and checkpoints it goes on. Absent: none. */
  readonly resumes?: LostBefore;
  /** Absent: nobody can tell it anything. */
  readonly mailbox?: Mailbox;
  /** The record answers these model calls, and the model those after them. Absent: none. */
  readonly recorded?: readonly BlobRef[];
}

export interface Stops {
  /** Ends the work. Its reason is a StopReason. */
  readonly stop: AbortSignal;
  /** Ends also the wait for what the work has left. It never aborts before `stop`. */
  readonly giveUp: AbortSignal;
}
