/** A brief: what connectors answered, and what an agent makes of it. */
import { Type, type Static } from "typebox";
import { CONNECTOR_NAMES } from "../runs/connectors.ts";
import { IsoTime } from "../seeds/v13-refs.ts";
import { closed, oneOf } from "../shapes/shape.ts";

/** The file that the agent of a run without a repository writes at the root of its work tree. */
export const BRIEF_FILE = "brief.json";

const Source = Type.String({
  minLength: 1,
  maxLength: 512,
  description: "The name of an entry: `work-items/app#12`.",
});
const Summary = Type.String({ minLength: 1, maxLength: 4096 });
const Note = Type.Optional(
  Type.String({ minLength: 1, maxLength: 2048, description: "What is to be said about it." }),
);

export const BriefEntry = closed(
  {
    source: Source,
    connector: oneOf([...CONNECTOR_NAMES]),
    project: Type.String({ minLength: 1, maxLength: 1024 }),
    id: Type.String({ minLength: 1, maxLength: 256 }),
    title: Type.String({ maxLength: 1024 }),
    status: Type.String({ maxLength: 256 }),
    assignee: Type.Optional(Type.String({ maxLength: 256 })),
    author: Type.Optional(Type.String({ maxLength: 256 })),
    tags: Type.Array(Type.String({ maxLength: 256 }), { maxItems: 64 }),
    text: Type.String({ maxLength: 4096, description: "Its description, cut." }),
  },
  { description: "A work item or a pull request, as its connector answered." },
);
export type BriefEntry = Static<typeof BriefEntry>;

export const BriefMaterial = closed(
  {
    v: Type.Literal(1),
    goal: Type.String({ minLength: 1 }),
    topics: Type.Array(Type.String(), { description: "Words that select entries. Empty: all." }),
    projects: Type.Array(Type.String()),
    connectors: Type.Array(oneOf([...CONNECTOR_NAMES])),
    readAt: IsoTime,
    entries: Type.Array(BriefEntry, { maxItems: 1000 }),
    omitted: Type.Integer({ minimum: 0, description: "Selected entries that did not fit." }),
  },
  { description: "`entries.json`: what the connectors of a run answered when it was accepted." },
);
export type BriefMaterial = Static<typeof BriefMaterial>;

export const Brief = closed(
  {
    summary: Summary,
    entries: Type.Array(closed({ source: Source, note: Note }), {
      maxItems: 1000,
      description: "In the order of importance. Empty: nothing is worth a mention.",
    }),
  },
  {
    description:
      "`brief.json`: a brief, as its agent writes it. An entry that the connectors did not answer is dropped.",
  },
);
export type Brief = Static<typeof Brief>;

export const BriefedEntry = closed({
  source: Source,
  project: Type.String(),
  title: Type.String(),
  status: Type.String(),
  assignee: Type.Optional(Type.String()),
  note: Note,
});
export type BriefedEntry = Static<typeof BriefedEntry>;

export const BriefOutput = closed({
  summary: Summary,
  entries: Type.Array(BriefedEntry, {
    description: "Title and state are those that the connector answered.",
  }),
  dropped: Type.Array(Type.String(), { description: "Sources that no connector answered." }),
});
export type BriefOutput = Static<typeof BriefOutput>;
