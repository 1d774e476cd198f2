/** The labelled requests, by the hand that wrote them. */
import { readFileSync } from "node:fs";
import type { Workflow } from "@antiphon/contracts";

export type LabelledRequest = {
  readonly text: string;
  readonly label: Workflow;
  readonly lang: string;
  readonly style: string;
  readonly hand: string;
};

/** Hands whose requests the model is trained on and the word lists were written with. */
export const TRAINING_HANDS = [
  "hand-1",
  "hand-2",
  "hand-3",
  "hand-4",
  "hand-7",
  "hand-8",
  "hand-9",
  "hand-11",
  "hand-12",
  "hand-13",
  "hand-16",
  "hand-17",
  "hand-18",
  "hand-19",
  "hand-20",
  "hand-21",
  "hand-22",
  "hand-23",
  "hand-26",
  "hand-27",
  "hand-28",
  "hand-29",
] as const;
/** Training hands that one person wrote: a model that is measured on one of them has seen none. */
export const WRITERS_OF_SEVERAL: readonly (readonly string[])[] = [
  ["hand-16", "hand-17", "hand-18"],
  ["hand-19", "hand-20", "hand-21", "hand-22", "hand-23"],
  ["hand-26", "hand-27", "hand-28", "hand-29"],
];
/**
 * Trained on, and never measured by: goals from the rules that the classifier replaced, and requests by whoever wrote
 * the word lists, for what the lists alone do not settle.
 */
export const OWN_HANDS = ["own", "own-2"] as const;
/** Hands that only measure. No list or rule was made from their texts; their totals were looked at along the way. */
export const HELD_OUT_HANDS = ["hand-5", "hand-6", "hand-10", "hand-14"] as const;
/**
 * Never trained on, but written by the writers of the hands 16 to 18, 19 to 23 and 26 to 29, who extended the word lists or
 * had read misses. They say less about strangers than the hands above.
 */
export const SAME_WRITER_HANDS = ["hand-15", "hand-24", "hand-25"] as const;

export function requestsOf(hands: readonly string[]): LabelledRequest[] {
  return hands.flatMap((hand) => {
    const text = readFileSync(new URL(`../data/requests/${hand}.jsonl`, import.meta.url), "utf8");
    const lines = text.split("\n").filter((line) => line !== "");
    return lines.map((line) => ({ ...(JSON.parse(line) as Omit<LabelledRequest, "hand">), hand }));
  });
}
