/**
 * `claim`: an Associate took the attempt. Each (run, task, epoch) has one register, so an attempt has one holder, and its key
 * signs the report.
 */
import { Type, type Static } from "typebox";
import { DirectorKey } from "../shapes/director-key.ts";
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
    reporter: Type.Optional(
      Type.Unsafe<DirectorKey>({
        ...DirectorKey,
        description:
          "Public half of the key that this process made at its start. The attempt's result counts only under its signature.",
      }),
    ),
  },
  { description: "An Associate took the attempt. Written by that Associate." },
);
export type ClaimBody = Static<typeof ClaimBody>;
