/**
 * The kinds of mishap in a simulated world. A campaign counts them when they happen, not when they are planned, because a
 * kind that never happened was not tested.
 */
export const MISHAPS = [
  "crash of a process",
  "crash before an operation",
  "pause of a process",
  "connection lost",
  "slow reader",
  "clock turned",
  "storm",
  "request lost",
  "answer lost",
  "request repeated",
  "served out of order",
  "server restarted",
  "server paused",
  "acknowledgement forgotten",
  "delivered again",
  "read in one go",
  "order of a gone process carried out",
] as const;

export type Mishap = (typeof MISHAPS)[number];
