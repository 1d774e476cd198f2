/** What came of the replays, as a table. Pure. */
import type { Trial } from "./trial.ts";

export const sameIn = (trials: readonly Trial[]): number => trials.filter(({ report }) => report.same).length;

/** For each language, then each trial with another digest, with its step. */
export function tableOf(trials: readonly Trial[]): string {
  const languages = [...new Set(trials.map(({ language }) => language))];
  const rows = languages.map((language) =>
    rowOf(
      language,
      trials.filter((one) => one.language === language),
    ),
  );
  const others = trials.filter(({ report }) => !report.same);
  return [
    line("language", ["sessions", "same diff", "other prompt", "calls", "agents"]),
    ...rows,
    rowOf("in all", trials),
    ...others.map((trial) => `${lineOf(trial)}\n`),
  ].join("");
}

/** One trial, as it ends. */
export const lineOf = ({ language, name, agent, report: { same, divergence: first } }: Trial): string =>
  `${same ? "same " : "OTHER"} ${language} ${name} (${agent})${first === null ? "" : `: ${first.step}: ${first.what}`}`;

function rowOf(name: string, trials: readonly Trial[]): string {
  const strayed = trials.filter(({ report }) => report.divergence?.step === "model-call").length;
  const calls = trials.reduce((sum, { report }) => sum + report.calls, 0);
  const agents = [...new Set(trials.map(({ agent }) => agent))].join(" ");
  return line(name, [trials.length, sameIn(trials), strayed, calls, agents]);
}

function line(name: string, cells: readonly (string | number)[]): string {
  return `${name.padEnd(12)}${cells.map((cell) => String(cell).padStart(14)).join("")}\n`;
}
