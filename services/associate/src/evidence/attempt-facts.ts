/** How an attempt ended, and all that its report says of it. */
import type { ErrorCode, GitAction, TaskKind, VerifyMode } from "@antiphon/contracts";
import type { CommandFact } from "../attempt/attempt.ts";
import type { RefusedCall } from "./refused-call.ts";

export type Ending =
  /** The sandbox ran to its end, or there was nothing to run. */
  | { readonly kind: "ran" }
  /** A fault that a retry does not cure: the time budget, memory, a patch that does not apply. */
  | { readonly kind: "stopped"; readonly code: ErrorCode; readonly message: string }
  | { readonly kind: "asks"; readonly questions: readonly string[] };

export interface AttemptFacts {
  readonly runId: string;
  readonly taskId: string;
  readonly kind: TaskKind;
  /** Only of a git task. */
  readonly git_action?: GitAction | undefined;
  readonly ending: Ending;
  readonly work: readonly CommandFact[];
  readonly checks: readonly CommandFact[];
  readonly verify: { readonly mode: VerifyMode; readonly commands: readonly string[] };
  /** False: the agent skipped self-verification and vouches for its work. */
  readonly selfVerified: boolean;
  /** How many of the files that the task is to leave, such as its findings, are there. */
  readonly left: number;
  readonly change: { readonly patch: string; readonly files: readonly string[] } | null;
  /** Changed files that decide the prepared environment. The checks here ran in that of the base, so they prove no fault. */
  readonly setupFiles: readonly string[];
  /** The message of the agent's own last commit; null: it made none. */
  readonly message: string | null;
  /** What the agent did, in a few words: "ran 2 commands". */
  readonly note: string;
  /** True when a model call was refused because the run's budget is used up. */
  readonly budgetSpent: boolean;
  /** Null: the egress gateway refused nothing that matters. */
  readonly refused: RefusedCall | null;
  /** Why the last model call failed; null: it had an answer. */
  readonly modelFailed: string | null;
  /** `files`: how many the task is to leave. */
  readonly wants: { readonly diff: boolean; readonly filesChanged: boolean; readonly files: number };
}
