/**
 * Notes about the requests of a sandbox, for its report. Pure. They name
 * - the first request that was refused, and the first that failed;
 * - the first model call that no retry helps, and the fate of the newest one that left;
 * - the hosts that may not be reached;
 * - whether something got through nevertheless.
 *
 * That calls under way hold the budget, or that its account cannot be read, is over in a while, so it is not noted.
 */
import type { LogEntry } from "./log-entry.ts";

export interface RefusalNotes {
  /** True once a call was refused because the run's budget was used up. */
  readonly isSpent: boolean;
  /** Code and reason of the first call that no retry helps; null: none. */
  refusal: string | null;
  /** Of the calls that left, how many failed, and the reason of the newest call if that one did. */
  failures: { readonly count: number; readonly last: string | null };
  /** The first hosts that the sandbox asked for and may not reach. */
  readonly hostsRefused: Set<string>;
  /** Method, host and reason of the first request that was refused; null: none. */
  firstRefused: string | null;
  /** The same of the first request that was allowed and failed on its way. */
  firstFailed: string | null;
  /** True once something got through, or failed for a reason that passes, that may have been a model. */
  isReached: boolean;
}

type Seen = Pick<LogEntry, "code" | "why" | "rule" | "host" | "decision" | "model" | "method">;

const HOSTS_NAMED = 16;
/** Of the reason in a report. */
const REASON_CHARS = 400;
/** The budget of a call that was held back by other calls, or whose account could not be read. */
const PASSING: ReadonlySet<string> = new Set(["model:reserved", "model:account"]);
/** A server of the user's own, which nobody meters. */
const UNMETERED: ReadonlySet<string> = new Set(["allowlist", "tunnel"]);

/** A budget that is used up is `isSpent`; with the same rule and without it, the run has none. */
export function noteRefusal(notes: RefusalNotes, seen: Seen): void {
  const { code, why, rule, host, decision, method } = seen;
  if (isReached(seen)) notes.isReached = true;
  if (seen.model !== undefined) {
    const { failed = null } = seen.model;
    notes.failures = { count: notes.failures.count + (failed === null ? 0 : 1), last: failed };
  }
  const hasNoBudget = code === "ANT_EGRESS_BUDGET" && rule === "model:budget" && !notes.isSpent;
  if (code === "ANT_EGRESS_MODEL" || code === "ANT_EGRESS_NO_KEY" || hasNoBudget)
    notes.refusal ??= `${code}: ${why ?? rule}`;
  const named = `${method} ${host}: ${why ?? rule}`.slice(0, REASON_CHARS).toWellFormed();
  if (decision === "refuse") notes.firstRefused ??= named;
  if (decision === "fault") notes.firstFailed ??= named;
  if (code === "ANT_EGRESS_HOST" && host !== "" && notes.hostsRefused.size < HOSTS_NAMED)
    notes.hostsRefused.add(host);
}

/** A list of models is no call: a program may get it and be refused the call that follows. */
function isReached({ decision, rule, model }: Seen): boolean {
  if (decision === "refuse") return PASSING.has(rule);
  return decision === "fault" || model !== undefined || UNMETERED.has(rule);
}
