import type { ReactElement } from "react";

const WORDS: Readonly<Record<string, string>> = { waiting_input: "waiting for you" };

/** A status as a coloured word; the word alone says everything. */
export function Status({
  status,
  paused = false,
}: {
  readonly status: string;
  readonly paused?: boolean;
}): ReactElement {
  const shown = paused ? "paused" : status;
  return <span className={`status ${shown}`}>{WORDS[shown] ?? shown.replaceAll("_", " ")}</span>;
}
