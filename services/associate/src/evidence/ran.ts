/** An attempt that has ended, before its end is turned into a proposal. */
import type { ResultBody, SandboxOutcome, SandboxStepOutcome } from "@antiphon/contracts";
import type { JobPlan } from "../attempt/attempt.ts";
import type { Change, ChangedFile, Preparation } from "../ports.ts";
import type { Ending } from "./attempt-facts.ts";

export type Work = Extract<Preparation, { kind: "work" }>;

export interface Ran {
  readonly ending: Ending;
  readonly plan: JobPlan | null;
  readonly outcome: SandboxOutcome | null;
  readonly change: Change;
  readonly work: Work | null;
  /** The output of the command that waits for an answer, without `outcome`. Default: the output is not known. */
  readonly printed?: SandboxStepOutcome | null;
  /** The transcript, if the agent left one as a file. Default: null. */
  readonly account?: ChangedFile | null;
  /** The file with the tokens and the cost that the agent states. Default: null, it left none. */
  readonly used?: ChangedFile | null;
  /** The messages of people that the agent was given. Default: none. */
  readonly heard?: NonNullable<Extract<ResultBody, { kind: "reported" }>["heard"]>;
}

/** The steps of its job, as far as their output is known. */
export function stepsOf({ outcome, printed = null }: Ran): readonly SandboxStepOutcome[] {
  return outcome?.steps ?? (printed === null ? [] : [printed]);
}
