// Follows a run until it ends, needs input, or Ctrl-C stops the watching.
import type { CliContext } from "../context.ts";
import { openDecisions } from "./decisions.ts";
import type { LiveOutput, RunRecord } from "../gateway/gateway-client.ts";
import { foldFacts } from "@antiphon/run/facts/facts-fold";
import { isPaused, noFacts, timeOf, type RunFacts } from "@antiphon/run/facts/run-facts";
import { doingNow, narrate, stillAt, type Line } from "./sentences.ts";
import { runView } from "@antiphon/run/view/run-view";
import { Silence } from "./silence.ts";
import type { RunSummary } from "./summary.ts";
import { statusWords } from "./status-words.ts";
import { exitCodeOf, summarize, summaryRows } from "./summary.ts";
import { duration, table } from "../screen/table.ts";
import { takeIt } from "./take-it.ts";
import { linesOf } from "@antiphon/contracts/shapes/visible-text";

export interface FollowOptions {
  /** Also show the live output of the sandboxes. */
  readonly logs: boolean;
  /** Print one JSON document per line instead of text. */
  readonly jsonLines: boolean;
  /** Print nothing of the run before its end. */
  readonly quiet: boolean;
  /** No status line either: several runs are followed at once. Default: false. */
  readonly still?: boolean;
  /** How a run is followed while it waits for people. Absent: then the following ends. */
  readonly waits?: Waits;
}

export interface Waits {
  /** Called when the run begins to wait, and when it goes on. */
  tell(isWaiting: boolean): void;
  /** Ends the following. */
  readonly until: AbortSignal;
}

export type FollowEnd = { kind: "closed" | "waiting" | "interrupted"; summary: RunSummary };

/** Records after which a run may wait for people. */
const MAY_WAIT: ReadonlySet<string> = new Set(["result", "verdict"]);

/** Words that stand for less were printed when they were new. */
const NEW_WORDS_MS = 2_500;

const SPINNER = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

export async function follow(context: CliContext, runId: string, options: FollowOptions): Promise<FollowEnd> {
  const gateway = await context.gateway();
  const decisions = openDecisions(gateway, context.config.directorKeys);
  let facts = noFacts(runId);
  let last: RunRecord | undefined;
  const abort = new AbortController();
  const onInterrupt = (): void => abort.abort();
  process.once("SIGINT", onInterrupt);
  let progress: LiveOutput | null = null;
  const isStill = options.still === true;
  const spinner = startSpinner(context, isStill, () => doingNow(last, progress));
  const logs = options.logs ? "all" : options.quiet ? "none" : "progress";
  const until = options.waits?.until;
  let isWaiting = false;
  const isMute = context.screen.live || options.quiet || options.jsonLines;
  const task = (): string | null => progress?.taskId ?? last?.taskId ?? null;
  const silence = new Silence({
    words: () =>
      isMute || isWaiting || isPaused(facts) ? null : withoutTask(doingNow(last, progress), task()),
    tell(words, standsMs) {
      const before = progress === null ? null : words;
      const now = before === null ? words : withoutTask(doingNow(last, null), task());
      const text = standsMs < NEW_WORDS_MS ? words : stillAt(now, before, standsMs);
      showDoing(context, { mark: "step", task: task(), text }, facts.openedAt);
    },
  });
  try {
    for await (const event of gateway.events(runId, {
      afterSeq: 0,
      logs,
      signal: until === undefined ? abort.signal : AbortSignal.any([abort.signal, until]),
    })) {
      if (event.kind === "record") {
        await decisions.check(event.record);
        last = event.record;
        facts = foldFacts(facts, last);
        progress = null;
        show(context, options, last, facts.openedAt);
        silence.broken();
        const wasWaiting: boolean = isWaiting;
        if (MAY_WAIT.has(last.type)) isWaiting = await waits(context, facts);
        else isWaiting &&= runView(facts).status === "waiting_input";
        if (isWaiting && options.waits === undefined) {
          return { kind: "waiting", summary: summarize(facts, decisions.words, Date.now()) };
        }
        if (isWaiting !== wasWaiting) options.waits?.tell(isWaiting);
      } else if (event.kind === "output") {
        progress = event.output.stream === "progress" ? event.output : progress;
        if (!options.logs) {
          silence.look();
          continue;
        }
        if (options.jsonLines) context.screen.json({ event: "log", ...event.output });
        else if (!options.quiet) showOutput(context, event.output.taskId, event.output.text);
        silence.broken();
      } else {
        progress = null;
        // Also for who asked for quiet: it may take a minute.
        context.screen.err(
          "no connection to the gateway; trying again for a minute (a run goes on without it)",
        );
      }
    }
  } finally {
    process.removeListener("SIGINT", onInterrupt);
    spinner.stop();
    silence.end();
  }
  const summary = summarize(facts, decisions.words, Date.now());
  if (facts.closed !== null) return { kind: "closed", summary };
  const isEnded = until?.aborted === true && !abort.signal.aborted;
  return { kind: isEnded ? "waiting" : "interrupted", summary };
}

/** Asks the gateway for the current state, because an earlier question may have been answered since. */
async function waits(context: CliContext, facts: RunFacts): Promise<boolean> {
  if (runView(facts).status !== "waiting_input") return false;
  const gateway = await context.gateway();
  const { status } = await gateway.get("/runs/{id}", { id: facts.runId });
  return status === "waiting_input";
}

function show(
  context: CliContext,
  options: FollowOptions,
  record: RunRecord,
  openedAt: RunFacts["openedAt"],
): void {
  if (options.jsonLines) return context.screen.json({ event: "record", ...record });
  if (options.quiet) return;
  const since = Date.parse(record.at) - Date.parse(timeOf(openedAt ?? record.at));
  for (const line of narrate(record)) context.screen.out(lineText(context, line, since));
}

function showDoing(context: CliContext, line: Line, openedAt: RunFacts["openedAt"]): void {
  const since = openedAt === null ? 0 : Date.now() - Date.parse(timeOf(openedAt));
  context.screen.out(lineText(context, line, Math.max(0, since))); // The server's clock may be ahead of ours.
}

/** The task has a column of its own. */
function withoutTask(words: string, task: string | null): string {
  const name = `${task ?? "run"}: `;
  return (words.startsWith(name) ? words.slice(name.length) : words).trim();
}

function lineText({ screen }: CliContext, line: Line, sinceMs: number): string {
  const c = screen.colours;
  const mark = { step: c.dim("·"), good: c.green("✓"), bad: c.red("✗"), wait: c.yellow("?") }[line.mark];
  const at = c.dim(`${(sinceMs / 1000).toFixed(1).padStart(6)} s`);
  return `${at} ${mark} ${(line.task ?? "run").padEnd(6)} ${line.text}`;
}

function showOutput({ screen }: CliContext, taskId: string | null, text: string): void {
  for (const line of linesOf(text.replace(/\n$/, "")))
    screen.out(screen.colours.dim(`         │ ${(taskId ?? "run").toUpperCase().padEnd(6)} ${line}`));
}

function startSpinner(context: CliContext, isStill: boolean, words: () => string): { stop: () => void } {
  if (!context.screen.live || isStill) return { stop: () => undefined };
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

export function printSummary({ screen }: CliContext, summary: RunSummary): void {
  const c = screen.colours;
  const good = summary.status === "succeeded";
  const mark = good
    ? c.green("✓")
    : summary.status === "waiting_input"
      ? c.yellow("?")
      : exitCodeOf(summary.status) === 0
        ? "·"
        : c.red("✗");
  screen.out("");
  screen.out(
    `${mark} ${c.bold(statusWords(summary.status))} after ${duration(summary.durationMs)}: ${summary.goal}`,
  );
  const rows = summaryRows(summary, takeIt(summary));
  for (const row of table(rows.map(([label, text]) => [`  ${label}`, text]))) screen.out(row);
}
