// Follows a run until it ends, needs input, or Ctrl-C stops the watching.
import type { CliContext } from "../context.ts";
import { openDecisions } from "./decisions.ts";
import type { RunRecord } from "../gateway/gateway-client.ts";
import { timeOf, type RunFacts } from "@antiphon/run/facts/run-facts";
import { narrate } from "./sentences.ts";
import { runView } from "@antiphon/run/view/run-view";
import { PresentWork } from "./present-work.ts";
import { lineText, sinceOpened, startSpinner } from "./progress-line.ts";
import { lookAtStorage } from "./storage-look.ts";
import { Silence } from "./silence.ts";
import type { RunSummary } from "./summary.ts";
import { statusWords } from "./status-words.ts";
import { summaryRows } from "./summary-rows.ts";
import { exitCodeOf, summarize } from "./summary.ts";
import { duration, table } from "../screen/table.ts";
import { takeIt } from "./take-it.ts";
import { linesOf } from "@antiphon/contracts/shapes/visible-text";

export interface FollowOptions {
  /** Also show the live output of the sandboxes. */
  readonly logs: boolean;
  /** Print one JSON document per line instead of text. */
  readonly jsonLines: boolean;
  /** Print nothing of the run on stdout before its end. */
  readonly quiet: boolean;
  /** A quiet run still breaks a long silence without a terminal, by a line on stderr. Default: false. */
  readonly news?: boolean;
  /** Learns what the run is at, for a caller that tells it: then nothing is told here. */
  readonly present?: PresentWork;
  /** Aborted: Ctrl-C came before the following began. */
  readonly interrupted?: AbortSignal;
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

export async function follow(context: CliContext, runId: string, options: FollowOptions): Promise<FollowEnd> {
  const gateway = await context.gateway();
  const decisions = openDecisions(gateway, context.config.directorKeys);
  const present = options.present ?? new PresentWork(runId);
  const abort = new AbortController();
  const onInterrupt = (): void => abort.abort();
  process.once("SIGINT", onInterrupt);
  if (options.interrupted?.aborted === true) abort.abort();
  const telling = options.present === undefined ? tellPresent(context, present, options) : null;
  const stopLooking = isTold(options) ? lookAtStorage(gateway, present) : null;
  const logs = options.logs ? "all" : !options.quiet || isTold(options) ? "progress" : "none";
  const until = options.waits?.until;
  try {
    for await (const event of gateway.events(runId, {
      afterSeq: 0,
      logs,
      signal: until === undefined ? abort.signal : AbortSignal.any([abort.signal, until]),
    })) {
      if (event.kind === "record") {
        await decisions.check(event.record);
        present.record(event.record);
        const { facts } = present;
        show(context, options, event.record, facts);
        if (!options.quiet) telling?.broken();
        const wasWaiting = present.isWaiting;
        if (MAY_WAIT.has(event.record.type)) present.isWaiting = await waits(context, facts);
        else present.isWaiting &&= runView(facts).status === "waiting_input";
        if (present.isWaiting && options.waits === undefined) {
          return { kind: "waiting", summary: summarize(facts, decisions.words, Date.now()) };
        }
        if (present.isWaiting !== wasWaiting) options.waits?.tell(present.isWaiting);
      } else if (event.kind === "output") {
        present.output(event.output);
        if (!options.logs) {
          telling?.look();
          continue;
        }
        if (options.jsonLines) context.screen.json({ event: "log", ...event.output });
        else if (!options.quiet) showOutput(context, event.output.taskId, event.output.text);
        telling?.broken();
      } else {
        present.connectionLost();
        // Also for who asked for quiet: it may take a minute.
        context.screen.err(
          "no connection to the gateway; trying again for a minute (a run goes on without it)",
        );
      }
    }
  } finally {
    process.removeListener("SIGINT", onInterrupt);
    telling?.end();
    stopLooking?.();
  }
  const { facts } = present;
  const summary = summarize(facts, decisions.words, Date.now());
  if (facts.closed !== null) return { kind: "closed", summary };
  const isEnded = until?.aborted === true && !abort.signal.aborted;
  return { kind: isEnded ? "waiting" : "interrupted", summary };
}

/** Whether somebody learns what the run is at before it ends. */
function isTold({ quiet, news, present, jsonLines }: FollowOptions): boolean {
  return present !== undefined || news === true || (!quiet && !jsonLines);
}

/** Tells what the run is at: on a terminal in the status line, else by a line about a long silence. */
function tellPresent(
  context: CliContext,
  present: PresentWork,
  { quiet, jsonLines, news = false }: FollowOptions,
): Pick<Silence, "broken" | "look" | "end"> {
  const { screen } = context;
  const spinner = startSpinner(context, () => present.statusLine());
  const isMute = screen.live || jsonLines || (quiet && !news);
  const silence = new Silence({
    words: () => (isMute ? null : present.words()),
    tell(words, standsMs) {
      const { task, facts } = present;
      const since = sinceOpened(facts.openedAt, Date.now());
      const text = present.line(words, standsMs);
      const line = lineText(context, { mark: "step", task, text }, since);
      if (quiet) screen.err(line);
      else screen.out(line);
    },
  });
  return {
    broken: () => silence.broken(),
    look: () => silence.look(),
    end() {
      spinner.stop();
      silence.end();
    },
  };
}

/** Asks the gateway for the current state, because an earlier question may have been answered since. */
async function waits(context: CliContext, facts: RunFacts): Promise<boolean> {
  if (runView(facts).status !== "waiting_input") return false;
  const gateway = await context.gateway();
  const { status } = await gateway.get("/runs/{id}", { id: facts.runId });
  return status === "waiting_input";
}

function show(context: CliContext, options: FollowOptions, record: RunRecord, facts: RunFacts): void {
  if (options.jsonLines) return context.screen.json({ event: "record", ...record });
  if (options.quiet) return;
  const since = Date.parse(record.at) - Date.parse(timeOf(facts.openedAt ?? record.at));
  for (const line of narrate(record, facts)) context.screen.out(lineText(context, line, since));
}

function showOutput({ screen }: CliContext, taskId: string | null, text: string): void {
  for (const line of linesOf(text.replace(/\n$/, "")))
    screen.out(screen.colours.dim(`         │ ${(taskId ?? "run").toUpperCase().padEnd(6)} ${line}`));
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
