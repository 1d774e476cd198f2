/** `intent`: somebody asked for a run. The first record of every run. */
import { Type } from "typebox";
import { IntentId, RunId } from "../ids.ts";
import { RepoBase } from "../refs.ts";
import { RunOptions } from "../run-options.ts";
import { closed } from "../shape.ts";
import { Intent } from "../seeds/intent.ts";

export const IntentBody = closed(
  {
    intentId: IntentId,
    intent: Intent,
    options: RunOptions,
    base: RepoBase,
    principal: Type.String({ minLength: 1, maxLength: 256, description: "Who asked." }),
    retry_of: Type.Optional(RunId),
  },
  { description: "A run was asked for. Written by the gateway." },
);
export type IntentBody = {
  intentId: string;
  intent: Intent;
  options: RunOptions;
  base: RepoBase;
  principal: string;
  /** The run that failed and is tried again with this one. */
  retry_of?: string;
};
