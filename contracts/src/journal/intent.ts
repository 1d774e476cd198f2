/** `intent`: somebody asked for a run. The first record of every run. */
import { Type } from "typebox";
import { IntentId } from "../ids.ts";
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
  },
  { description: "A run was asked for. Written by the gateway." },
);
export type IntentBody = {
  intentId: string;
  intent: Intent;
  options: RunOptions;
  base: RepoBase;
  principal: string;
};
