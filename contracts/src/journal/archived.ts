/**
 * `archived` and `restored`: where the records of a finished run are. They are not part of the run's history and are not
 * shown in it.
 */
import { Type, type Static } from "typebox";
import { Digest } from "../shapes/ids.ts";
import { BlobRef } from "../shapes/refs.ts";
import { closed } from "../shapes/shape.ts";

export const ArchivedBody = closed(
  {
    pack: BlobRef,
    records: Type.Integer({ minimum: 1, description: "Records of the run in the pack." }),
    digest: Digest,
    last: closed(
      { seq: Type.Integer({ minimum: 1 }), digest: Digest },
      { description: "The run's last record in the pack." },
    ),
  },
  {
    description:
      "The run's records are in the pack, which was read back and verified; `digest` is the digest of the run's entry in it. The epoch counts 1, 2, ... Other records of the run in the journal were added later or will be purged. Written by the Director.",
  },
);
export type ArchivedBody = Static<typeof ArchivedBody>;

export const RestoredBody = closed(
  { by: Type.String({ minLength: 1, maxLength: 256, description: "Who asked." }) },
  {
    description:
      "The records of the `archived` record with the same epoch are restored to the journal. Written by a Director before the first of them.",
  },
);
export type RestoredBody = Static<typeof RestoredBody>;
