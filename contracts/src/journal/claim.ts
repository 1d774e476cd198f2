/** `claim`: an Associate took the attempt. Each (run, task, epoch) has one register, so an attempt has one holder. */
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
  { description: "An Associate took the attempt. Written by that Associate." },
);
export type ClaimBody = Static<typeof ClaimBody>;
