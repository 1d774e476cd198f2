// Asks the gateway for a check without a run, and shows its outcome.
import type { CheckReport, CheckRequest } from "@antiphon/contracts";
import type { CliContext } from "../context.ts";
import { Failure } from "../failure.ts";
import { asFlag } from "../runs/option-refusal.ts";
import { BAR } from "../screen/failure-lines.ts";
import { duration } from "../screen/table.ts";
import { NewsPace } from "./news-pace.ts";
import { missedNetwork } from "@antiphon/contracts/runs/missed-network";
import { linesOf } from "@antiphon/contracts/shapes/visible-text";

const DEFAULT_BUDGET_S = 300;
/** The wait for a free sandbox, and the work before and after it. */
const WAIT_MS = 11 * 60_000;

/**
 * Ctrl-C ends the command and closes the connection, and with it the check. `silent`: says nothing before the answer, as JSON
 * does.
 */
export async function checkInCleanRoom(
  context: CliContext,
  request: CheckRequest,
  silent: boolean,
): Promise<CheckReport> {
  const { screen } = context;
  const gateway = await context.gateway();
  const timeoutMs = (request.time_budget_s ?? DEFAULT_BUDGET_S) * 1000 + WAIT_MS;
  const began = Date.now();
  let news = "";
  const pace = new NewsPace(began);
  const draw = (): void => {
    const now = Date.now();
    const line = `in the clean room (${duration(now - began)})${news === "" ? "" : `: ${news}`}`;
    screen.status(line);
    if (!silent && !screen.live && pace.due(news, now)) screen.err(line);
  };
  const timer = setInterval(draw, 200);
  try {
    const answer = await gateway.postFollowed("/checks", request, {
      timeoutMs,
      hear: ({ text }) => void (news = text.replaceAll(/\s+/g, " ")),
    });
    if (!("error" in answer)) return answer;
    // The status was sent before the check began (see the gateway's README).
    const { code, message, remedy, ...data } = answer.error;
    const hint = code === "ANT_ENVIRONMENT_FAILED" ? `${remedy} ${WITH_A_RUN}` : remedy;
    throw new Failure(code, message, { remedy: hint, data });
  } catch (error) {
    throw asFlag(Failure.from(error)); // Such as the image, which is refused before a check begins.
  } finally {
    clearInterval(timer);
    screen.status(null);
  }
}

const WITH_A_RUN =
  'A check keeps no log of its setup, but a run does: antiphon run "<intent>" --setup "<command>" tries another setup, ' +
  "and --no-setup goes without one.";

function howItEnded({ timedOut, exitCode }: CheckReport["checks"][number]): string {
  return timedOut ? "ran out of time" : exitCode === null ? "did not finish" : `exited ${exitCode}`;
}

/** A line about the image, one for each check, and below a failed one the end of its output. */
export function checkLines(
  { checks, image_note }: CheckReport,
  { colours: c }: CliContext["screen"],
): string[] {
  const note = image_note === undefined ? [] : [c.dim(`image: ${image_note}`)];
  const lines = checks.flatMap((check) => {
    const { command, exitCode, durationMs, tail } = check;
    if (exitCode === 0) return [`${c.green("✓")} ${command}  ${c.dim(duration(durationMs))}`];
    const output = tail.trimEnd();
    const network = missedNetwork(output);
    return [
      `${c.red("✗")} ${command}  ${howItEnded(check)} after ${duration(durationMs)}`,
      ...(output === "" ? [] : linesOf(output).map((line) => c.dim(`${BAR}${line}`))),
      ...(network === null ? [] : [`  ${network}`]),
    ];
  });
  return [...note, ...lines];
}
