/** Intent v0 (seed 002, RFC 000): a user's request. */
import { Type } from "typebox";
import { anyObject, closed } from "../shapes/shape.ts";

export const Intent = closed(
  {
    goal: Type.String({ minLength: 1, description: "The state to be reached." }),
    inputs: anyObject({ description: "Free-form facts for the goal." }),
    constraints: anyObject({ description: "Free-form limits on the way to reach it." }),
    connectors: Type.Optional(
      Type.Array(Type.String(), { description: "Names of external systems that may be used." }),
    ),
  },
  { description: "A user's request (seed 002)." },
);
export type Intent = {
  goal: string;
  inputs: Record<string, unknown>;
  constraints: Record<string, unknown>;
  connectors?: string[];
};
