/** A question to the gateway: which of these runs would a policy refuse? Nothing is stored. */
import { Type, type Static } from "typebox";
import { PolicyConfig } from "../seeds/v13-policy.ts";
import { RunId } from "../shapes/ids.ts";
import { closed } from "../shapes/shape.ts";

export const PolicySimulation = closed(
  {
    runs: Type.Array(RunId, {
      minItems: 1,
      maxItems: 100,
      description: "Runs that exist, also ended and archived ones.",
    }),
    policy: Type.Optional(PolicyConfig),
  },
  { description: "Judges past runs by a policy. Absent `policy`: the one that the deployment has stored." },
);
export type PolicySimulation = Static<typeof PolicySimulation>;
