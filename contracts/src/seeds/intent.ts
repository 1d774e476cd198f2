/** Intent v0 (seed 002, RFC 000): what somebody wants done. */
import { Type } from "typebox";
import { anyObject, closed } from "../shapes/shape.ts";

export const Intent = closed(
  {
    goal: Type.String({ minLength: 1, description: "What should be true afterwards." }),
    inputs: anyObject({ description: "Free-form facts the goal refers to." }),
    constraints: anyObject({ description: "Free-form limits on how it may be reached." }),
    connectors: Type.Optional(
      Type.Array(Type.String(), { description: "Names of outside systems it may use." }),
    ),
  },
  { description: "What somebody wants done (seed 002)." },
);
export type Intent = {
  goal: string;
  inputs: Record<string, unknown>;
  constraints: Record<string, unknown>;
  connectors?: string[];
};
