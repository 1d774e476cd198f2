/** A task that the user gives instead of a plan by the Router. */
import { Type, type Static } from "typebox";
import { closed, oneOf } from "../shapes/shape.ts";
import { AgentSpec } from "./agents.ts";

const command = Type.String({ minLength: 1, maxLength: 8192 });

export const TaskSpec = closed(
  {
    id: Type.Integer({ minimum: 1, maximum: 1000 }),
    description: Type.String({ minLength: 1, maxLength: 8192 }),
    dependencies: Type.Array(Type.Integer({ minimum: 1, maximum: 1000 }), { maxItems: 1000 }),
    agent: Type.Optional(AgentSpec),
    checks: Type.Optional(Type.Array(command, { maxItems: 64 })),
    kind: Type.Optional(oneOf(["edit_repo", "run", "inspect"])),
  },
  { description: "A task given by the user instead of planned by the Router." },
);
export type TaskSpec = Static<typeof TaskSpec>;
