/** The backlog of a repository as a file, for deployments without an issue tracker. People may edit it. */
import { Type, type Static } from "typebox";
import { IsoTime } from "../seeds/v13-refs.ts";
import { closed } from "../shapes/shape.ts";

const BacklogComment = closed({
  at: IsoTime,
  body: Type.String(),
  key: Type.Optional(Type.String({ description: "The command that made it, so that it is made once." })),
});

const BacklogItem = closed({
  id: Type.String({ minLength: 1, maxLength: 256, description: "Unique in the file." }),
  title: Type.String({ maxLength: 1024 }),
  description: Type.Optional(Type.String()),
  status: Type.String({ minLength: 1, maxLength: 256, description: "`open`, `done`, or any other." }),
  assignee: Type.Optional(Type.String({ maxLength: 256 })),
  tags: Type.Optional(Type.Array(Type.String({ maxLength: 256 }), { maxItems: 64 })),
  comments: Type.Optional(Type.Array(BacklogComment)),
});
export type BacklogItem = Static<typeof BacklogItem>;

export const Backlog = closed(
  { v: Type.Literal(1), items: Type.Array(BacklogItem) },
  { description: "The work items of a repository, in a file beside the Director." },
);
export type Backlog = Static<typeof Backlog>;
