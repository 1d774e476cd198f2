// A line about the progress of a run: printed, or redrawn in place at the end of a terminal.
import { timeOf, type RunFacts } from "@antiphon/run/facts/run-facts";
import type { CliContext } from "../context.ts";
import { duration } from "../screen/table.ts";
import type { Line } from "./sentences.ts";

const SPINNER = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

export function lineText({ screen }: CliContext, line: Line, sinceMs: number): string {
  const c = screen.colours;
  const mark = { step: c.dim("·"), good: c.green("✓"), bad: c.red("✗"), wait: c.yellow("?") }[line.mark];
  const at = c.dim(`${(sinceMs / 1000).toFixed(1).padStart(6)} s`);
  return `${at} ${mark} ${(line.task ?? "run").padEnd(6)} ${line.text}`;
}

export function sinceOpened(openedAt: RunFacts["openedAt"], now: number): number {
  return openedAt === null ? 0 : Math.max(0, now - Date.parse(timeOf(openedAt))); // The server's clock may be ahead of ours.
}

/** Does nothing without a terminal. */
export function startSpinner(context: CliContext, words: () => string): { stop: () => void } {
  if (!context.screen.live) return { stop: () => undefined };
  const began = Date.now();
  let frame = 0;
  const timer = setInterval(() => {
    const text = words();
    const mark = SPINNER[frame++ % SPINNER.length] ?? "";
    context.screen.status(text === "" ? null : `${mark} ${text} (${duration(Date.now() - began)})`);
  }, 100);
  return {
    stop() {
      clearInterval(timer);
      context.screen.status(null);
    },
  };
}
