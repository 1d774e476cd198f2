/** `closed`: the run is over and never changes again. */
import { Type, type Static } from "typebox";
import { CommitId, Digest, ErrorCode } from "../shapes/ids.ts";
import { closed, nullable, oneOf } from "../shapes/shape.ts";
import { RouterContractFinal } from "../seeds/router-contract.ts";

export const ClosedBody = closed(
  {
    status: oneOf(["succeeded", "failed", "canceled"]),
    code: nullable(ErrorCode, { description: "Why the run did not succeed; null on success." }),
    message: Type.String(),
    contract: RouterContractFinal,
    commit: nullable(CommitId, { description: "Head of the run's branch." }),
    landedOn: nullable(Type.String({ minLength: 1 }), {
      description: "The ref that points to it; null when nothing landed.",
    }),
    seal: Digest,
  },
  {
    description:
      "The run is over; `seal` covers the digests of all its records in order. Written by the Director.",
  },
);
export type ClosedBody = Static<typeof ClosedBody>;
