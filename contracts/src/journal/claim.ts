/** `claim`: one Associate took the attempt. One register per (run, task, epoch), so one holder. */
import { Type, type Static } from "typebox";
import { AssociateId } from "../shapes/ids.ts";
import { closed } from "../shapes/shape.ts";

export const ClaimBody = closed(
  {
    associate: AssociateId,
    incarnation: Type.String({
      minLength: 1,
      maxLength: 64,
      description: "Differs each time the process starts.",
    }),
  },
  { description: "An attempt has a holder. Written by an Associate." },
);
export type ClaimBody = Static<typeof ClaimBody>;
