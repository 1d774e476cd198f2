/** What is counted of a lease, and the report made of it. */
import type { BlobRef, EgressReport } from "@antiphon/contracts";
import type { Charge } from "../models/ledger.ts";
import type { LogEntry } from "../policy/log-entry.ts";
import { Quota } from "../policy/quota.ts";
import type { RefusalNotes } from "../policy/refusal-notes.ts";
import type { RecordedCalls } from "../models/recorded-calls.ts";

/** The traffic of a lease so far. */
export interface Account extends RefusalNotes {
  readonly entries: LogEntry[];
  readonly recordings: BlobRef[];
  readonly quota: Quota;
  calls: number;
  charged: Charge;
  isSpent: boolean;
  /** The record that answers model calls; null: models answer. */
  readonly replayed: RecordedCalls | null;
  /** A later attempt of the task goes on from its checkpoints. */
  isFenced: boolean;
}

export function newAccount(replayed: RecordedCalls | null): Account {
  return {
    entries: [],
    recordings: [],
    quota: new Quota(),
    calls: 0,
    charged: { tokens: 0, usd_micro: 0 },
    isSpent: false,
    refusal: null,
    failures: { count: 0, last: null },
    hostsRefused: new Set(),
    firstRefused: null,
    firstFailed: null,
    isReached: false,
    replayed,
    isFenced: false,
  };
}

/** `log`: where its entries are stored; null: there are none. */
export function reportOf(account: Account, log: BlobRef | null): EgressReport {
  const { entries, recordings, quota, calls, charged, isSpent } = account;
  const { refusal, failures, hostsRefused, firstRefused, firstFailed, isReached, replayed } = account;
  return {
    log,
    requests: entries.length,
    refused: refusedIn(account),
    bytes_up: quota.used.up,
    bytes_down: quota.used.down,
    model_calls: calls,
    model_tokens: charged.tokens,
    model_usd_micro: charged.usd_micro,
    recordings,
    ...(isSpent ? { budget_spent: true } : {}),
    ...(refusal === null ? {} : { model_refused: refusal }),
    ...(failures.last === null
      ? {}
      : { model_failed: `${failures.count} of ${calls} failed, the last: ${failures.last}` }),
    ...(isReached ? { reached: true as const } : {}),
    ...(hostsRefused.size === 0 ? {} : { hosts_refused: [...hostsRefused] }),
    ...(firstRefused === null ? {} : { first_refused: firstRefused }),
    ...(firstFailed === null ? {} : { first_failed: firstFailed }),
    ...(replayed === null ? {} : { replay: comparedWith(replayed) }),
  };
}

export function refusedIn({ entries }: Account): number {
  return entries.filter(({ decision }) => decision === "refuse").length;
}

function comparedWith({ size, served, strayed }: RecordedCalls): NonNullable<EgressReport["replay"]> {
  return { calls: size, served, ...(strayed === null ? {} : { strayed }) };
}
