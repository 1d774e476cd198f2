// Tells what each run of a race is at: in the status line of a terminal, else by a line about a long silence.
import type { CliContext } from "../context.ts";
import { NEW_WORDS_MS, type PresentWork } from "./present-work.ts";
import { lineText, startSpinner } from "./progress-line.ts";
import { stillAt } from "./sentences.ts";
import { Silence } from "./silence.ts";

/** Eight runs share the line. */
const MOST_CHARS = 100;

export interface NamedWork {
  /** The agent, for people; several runs may have the same one. */
  readonly agent: string;
  readonly present: PresentWork;
}

/** Returns how to stop. */
export function tellRace(context: CliContext, works: readonly NamedWork[]): () => void {
  const began = performance.now();
  const spinner = startSpinner(context, () => raceWords(works) ?? "");
  const silence = new Silence({
    words: () => (context.screen.live ? null : raceWords(works)),
    tell(words, standsMs) {
      const text = standsMs < NEW_WORDS_MS ? words : stillAt(words, null, standsMs);
      context.screen.out(lineText(context, { mark: "step", task: "race", text }, performance.now() - began));
    },
  });
  return () => {
    spinner.stop();
    silence.end();
  };
}

/** Null: nothing is under way. A run that has ended or waits for a person is under way no more. */
export function raceWords(works: readonly NamedWork[]): string | null {
  const named = works.flatMap(({ agent, present }, n) => {
    const words = present.doing();
    if (words === null) return [];
    const isShared = works.filter((one) => one.agent === agent).length > 1;
    return [`${isShared ? `${agent} ${n + 1}` : agent} (${cut(words)})`];
  });
  if (named.length === 0) return null;
  return works.reduce((words, { present }) => present.withStorage(words), named.join(", "));
}

function cut(words: string): string {
  return words.length > MOST_CHARS ? `${words.slice(0, MOST_CHARS - 1)}…` : words;
}
