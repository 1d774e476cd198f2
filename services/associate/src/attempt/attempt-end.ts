/** How an attempt ends: with a report, with the fault that prevented one, or because it was stopped. */
import type { ResultBody } from "@antiphon/contracts";

export type AttemptEnd =
  | { readonly kind: "reported"; readonly body: Extract<ResultBody, { kind: "reported" }> }
  | { readonly kind: "abandoned"; readonly code: string; readonly message: string; readonly outage?: true }
  | Stopped;

export interface Stopped {
  readonly kind: "stopped";
  readonly why: StopReason;
  /** The last fault of a container that is not confirmed to be gone. */
  readonly left?: { readonly code: string; readonly message: string };
}

export type StopReason = "canceled" | "fenced" | "draining";
