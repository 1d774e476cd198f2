/**
 * What a report says about refusals: the first that no retry of the call helps, and the hosts that may not be reached. Pure.
 *
 * That calls under way hold the budget, or that its account cannot be read, is over in a while, so it is not noted.
 */
import type { LogEntry } from "./log-entry.ts";

export interface RefusalNotes {
  /** True once a call was refused because the run's budget was used up. */
  readonly isSpent: boolean;
  /** Code and reason of the first call that no retry helps; null: none. */
  refusal: string | null;
  /** The first hosts that the sandbox asked for and may not reach. */
  readonly hostsRefused: Set<string>;
}

type Seen = Pick<LogEntry, "code" | "why" | "rule" | "host">;

const HOSTS_NAMED = 16;

/** A budget that is used up is `isSpent`; with the same rule and without it, the run has none. */
export function noteRefusal(notes: RefusalNotes, { code, why, rule, host }: Seen): void {
  const hasNoBudget = code === "ANT_EGRESS_BUDGET" && rule === "model:budget" && !notes.isSpent;
  if (code === "ANT_EGRESS_MODEL" || code === "ANT_EGRESS_NO_KEY" || hasNoBudget)
    notes.refusal ??= `${code}: ${why ?? rule}`;
  if (code === "ANT_EGRESS_HOST" && host !== "" && notes.hostsRefused.size < HOSTS_NAMED)
    notes.hostsRefused.add(host);
}
