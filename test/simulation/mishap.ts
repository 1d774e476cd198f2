/**
 * What can go wrong in a simulated world, by kind. A campaign counts them as they happen, not as they are planned: a
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
