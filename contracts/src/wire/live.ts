/** Messages that are hints, never facts: control and live output. */
import { Type, type Static } from "typebox";
import { Epoch } from "../shapes/ids.ts";
import { closed, oneOf } from "../shapes/shape.ts";

export const ControlHint = closed(
  { kind: oneOf(["cancel", "message"]) },
  { description: "`antiphon.v1.ctl.<runId>`: a fast hint; only the record of that type counts." },
);
export type ControlHint = Static<typeof ControlHint>;

export const LogLine = closed(
  { text: Type.String(), epoch: Epoch },
  { description: "`antiphon.v1.log.<runId>.<task>.<stream>`: a piece of live output." },
);
export type LogLine = Static<typeof LogLine>;
