/** Where an agent says what it has used. */
import { Type, type Static } from "typebox";
import { closed, oneOf } from "../shapes/shape.ts";
import { inWorkTree } from "./work-tree-glob.ts";

const dotted = (description: string) =>
  Type.String({
    pattern: "^[A-Za-z0-9_-]+(\\.[A-Za-z0-9_-]+){0,7}$",
    maxLength: 256,
    description,
  });
const ofNumber = dotted("The path of a number in such an event: `usage.input_tokens`.");

const UsageFile = closed(
  {
    file: inWorkTree("A glob of one file in the work tree, which is then left out of the change."),
    format: oneOf(["jsonl", "json"], { description: "jsonl: one event a line. json: one document." }),
  },
  { description: "A file of its own for this. Default: the transcript, as `jsonl` or `json`." },
);

export const PackUsage = closed(
  {
    from: Type.Optional(UsageFile),
    list: Type.Optional(
      dotted(
        "Of one document: the path of the list that holds the events. Default: the document is the only event.",
      ),
    ),
    event: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        description: "The events that say it: those with this `type` or `event`. Default: all of them.",
      }),
    ),
    tokens: Type.Optional(
      Type.Array(ofNumber, {
        minItems: 1,
        maxItems: 8,
        description: "Numbers of tokens, which are added up.",
      }),
    ),
    cost_usd: Type.Optional(ofNumber),
    adds: oneOf(["last", "sum"], {
      description: "last: each event has the sum so far. sum: each has its own part.",
    }),
  },
  {
    description:
      "Where it says what it has used, in events as JSON. It is the agent's own word: people see it beside what the egress gateway has counted, and nothing is decided by it. Default: it says nothing.",
  },
);
export type PackUsage = Static<typeof PackUsage>;
