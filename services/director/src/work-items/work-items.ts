/**
 * Work items of a repository (seed 004): the port that the commands TransitionTicket, Comment, SetAssignee, QueryBacklog and
 * QueryWorkItem use. Its adapters are a file on the Director's disk, which needs no account, and the issues of a Gitea or
 * GitHub server. Each call may be repeated: a comment is made once for each `key`.
 */
import type { RepoRef, WorkItemDetails } from "@antiphon/contracts";

export interface WorkItems {
  /** Its name in a `providerHint`. */
  readonly name: string;
  /** Those that the filter selects. @throws AntiphonError ANT_WORK_ITEM* */
  query(repo: RepoRef, filter: string, signal: AbortSignal): Promise<WorkItemDetails[]>;
  item(repo: RepoRef, id: string, signal: AbortSignal): Promise<WorkItemDetails>;
  transition(repo: RepoRef, id: string, state: string, signal: AbortSignal): Promise<void>;
  assign(repo: RepoRef, id: string, assignee: string, signal: AbortSignal): Promise<void>;
  comment(repo: RepoRef, id: string, comment: NewComment, signal: AbortSignal): Promise<void>;
}

export interface NewComment {
  readonly body: string;
  /** Names the command, so that carrying it out twice makes one comment. */
  readonly key: string;
  /** An earlier try may have made it. */
  readonly again: boolean;
}
