/** The workspace of a command session: one branch, and a tree beside it that holds what is not committed yet. */
import { Type, type Static } from "typebox";
import { CommitId } from "../shapes/ids.ts";
import { closed, nullable } from "../shapes/shape.ts";

export const SessionWorkspace = closed(
  {
    branch: nullable(Type.String({ minLength: 1, maxLength: 300 }), {
      description: "Full name of the session's branch; null: it has none yet.",
    }),
    base: { ...CommitId, description: "The commit that the session started from." },
    head: { ...CommitId, description: "The last commit of the branch." },
    tree: { ...CommitId, description: "The tree of `head`." },
    work: nullable(CommitId, {
      description:
        "A commit above `head` that holds the changes which are not committed; null: there are none.",
    }),
    tested: nullable(CommitId, {
      description: "The tree on which all tests passed last; null: no tests have passed.",
    }),
    pushed: nullable(CommitId, { description: "The commit that was pushed last; null: none was." }),
  },
  { description: "What a session's commands have made so far." },
);
export type SessionWorkspace = Static<typeof SessionWorkspace>;
