// What the runs of each agent say together: how many were accepted, what they cost and how long they took. Pure.
import { duration } from "../screen/table.ts";
import { meanOf, shareOf, type Estimate } from "./intervals.ts";

/** One run of a bake-off. */
export interface Entry {
  readonly agent: string;
  readonly runId: string;
  /** The past run whose task it did. */
  readonly of: string;
  readonly status: string;
  readonly code: string | null;
  readonly seconds: number;
  /** Null: its charges cannot be read. */
  readonly usdMicro: number | null;
}

export interface Standing {
  readonly agent: string;
  readonly runs: number;
  readonly accepted: number;
  readonly share: Estimate | null;
  readonly usd: Estimate | null;
  readonly seconds: Estimate | null;
}

/** In the order of `agents`. */
export function standingsOf(entries: readonly Entry[], agents: readonly string[]): Standing[] {
  return agents.map((agent) => {
    const own = entries.filter((entry) => entry.agent === agent);
    const accepted = own.filter(({ status }) => status === "succeeded").length;
    const charges = own.flatMap(({ usdMicro }) => (usdMicro === null ? [] : [usdMicro / 1_000_000]));
    return {
      ...{ agent, runs: own.length, accepted, share: shareOf(accepted, own.length) },
      usd: meanOf(charges),
      seconds: meanOf(own.map(({ seconds }) => seconds)),
    };
  });
}

export const HEADER = ["AGENT", "RUNS", "ACCEPTED (95 %)", "COST OF A RUN (95 %)", "TIME OF A RUN (95 %)"];

export function standingRows(standings: readonly Standing[]): string[][] {
  const percent = (share: number): string => `${Math.round(share * 100)} %`;
  const usd = (one: number): string => `$${one.toFixed(one < 1 ? 4 : 2)}`;
  const time = (seconds: number): string => duration(seconds * 1000);
  return standings.map(({ agent, runs, accepted, ...measured }) => [
    ...[agent, String(runs), `${accepted} of ${runs}: ${told(measured.share, percent)}`],
    ...[told(measured.usd, usd), told(measured.seconds, time)],
  ]);
}

function told(one: Estimate | null, text: (value: number) => string): string {
  if (one === null) return "-";
  if (one.low === null || one.high === null) return text(one.estimate);
  return `${text(one.estimate)} (${text(one.low)} to ${text(one.high)})`;
}
