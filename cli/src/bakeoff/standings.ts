// What the runs of each agent say together: how many were accepted, what they cost and how long they took. Pure.
import { duration } from "../screen/table.ts";
import { meanOf, shareOf, type Estimate } from "./intervals.ts";

/** The fate of a run that was not measured; every other status is one of runs. */
export const NOT_STARTED = "not started";
export const END_UNKNOWN = "end unknown";
export const STOPPED = "stopped";

/** One run of a bake-off. */
export interface Entry {
  readonly agent: string;
  /** Null: it was not started. */
  readonly runId: string | null;
  /** The past run whose task it did. */
  readonly of: string;
  readonly status: string;
  readonly code: string | null;
  /** Null: it was not measured. */
  readonly seconds: number | null;
  /** Null: its charges cannot be read. */
  readonly usdMicro: number | null;
}

export interface Standing {
  readonly agent: string;
  /** Those that were measured; the figures are about them. */
  readonly runs: number;
  readonly notStarted: number;
  /** Started, but stopped by Ctrl-C or out of sight before the end. */
  readonly notEnded: number;
  readonly accepted: number;
  readonly share: Estimate | null;
  readonly usd: Estimate | null;
  readonly seconds: Estimate | null;
}

const UNMEASURED: ReadonlySet<string> = new Set([NOT_STARTED, END_UNKNOWN, STOPPED]);

/** In the order of `agents`. */
export function standingsOf(entries: readonly Entry[], agents: readonly string[]): Standing[] {
  return agents.map((agent) => {
    const all = entries.filter((entry) => entry.agent === agent);
    const notStarted = all.filter(({ status }) => status === NOT_STARTED).length;
    const own = all.filter(({ status }) => !UNMEASURED.has(status));
    const notEnded = all.length - own.length - notStarted;
    const accepted = own.filter(({ status }) => status === "succeeded").length;
    const charges = own.flatMap(({ usdMicro }) => (usdMicro === null ? [] : [usdMicro / 1_000_000]));
    return {
      ...{ agent, runs: own.length, notStarted, notEnded, accepted, share: shareOf(accepted, own.length) },
      usd: meanOf(charges),
      seconds: meanOf(own.flatMap(({ seconds }) => seconds ?? [])),
    };
  });
}

export const HEADER = ["AGENT", "RUNS", "ACCEPTED (95 %)", "COST OF A RUN (95 %)", "TIME OF A RUN (95 %)"];

export function standingRows(standings: readonly Standing[]): string[][] {
  const percent = (share: number): string => `${Math.round(share * 100)} %`;
  const usd = (one: number): string => `$${one.toFixed(one < 1 ? 4 : 2)}`;
  const time = (seconds: number): string => duration(seconds * 1000);
  return standings.map(({ agent, runs, notStarted, notEnded, accepted, ...measured }) => [
    ...[
      agent,
      runsTold(runs, notStarted, notEnded),
      `${accepted} of ${runs}: ${told(measured.share, percent)}`,
    ],
    ...[told(measured.usd, usd), told(measured.seconds, time)],
  ]);
}

function runsTold(runs: number, notStarted: number, notEnded: number): string {
  const others = [
    ...(notStarted === 0 ? [] : [`${notStarted} not started`]),
    ...(notEnded === 0 ? [] : [`${notEnded} not ended`]),
  ];
  return [String(runs), ...others].join(", ");
}

function told(one: Estimate | null, text: (value: number) => string): string {
  if (one === null) return "-";
  if (one.low === null || one.high === null) return text(one.estimate);
  return `${text(one.estimate)} (${text(one.low)} to ${text(one.high)})`;
}

/** 0 if at least one run was measured and nothing stopped the others. */
export function exitCodeOf({ entries, failures, stoppedBy }: Ended): number {
  if (stoppedBy !== null) return stoppedBy.exitCode;
  const isMeasured = entries.some(({ status }) => !UNMEASURED.has(status));
  return isMeasured ? 0 : (failures[0]?.exitCode ?? 0);
}

interface Ended {
  readonly entries: readonly Entry[];
  readonly failures: readonly { readonly exitCode: number }[];
  readonly stoppedBy: { readonly exitCode: number } | null;
}
