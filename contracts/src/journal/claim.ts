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
      description: "Differs each time the process starts. One that begins with `live_` answers probes.",
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

/** Of the incarnations of processes that answer on `subjects.attemptHolder`. Those of an older release have no such names. */
const ANSWERING = /^live_[a-z0-9]{1,59}$/;

export const answeringIncarnation = (id: string): string => `live_${id}`;

/** False: the holder cannot be asked, so that no answer says nothing about it. */
export const answersProbes = (incarnation: string): boolean => ANSWERING.test(incarnation);
