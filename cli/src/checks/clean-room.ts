// Asks the gateway for a check without a run, and shows its outcome.
import type { CheckReport, CheckRequest } from "@antiphon/contracts";
import type { CliContext } from "../context.ts";
import { Failure } from "../failure.ts";
import { BAR } from "../screen/failure-lines.ts";
import { duration } from "../screen/table.ts";
import { linesOf } from "@antiphon/contracts/shapes/visible-text";

const DEFAULT_BUDGET_S = 300;
/** The wait for a free sandbox, and the work before and after it. */
const WAIT_MS = 11 * 60_000;

/** Ctrl-C ends the command and closes the connection, and with it the check. */
export async function checkInCleanRoom(context: CliContext, request: CheckRequest): Promise<CheckReport> {
  const gateway = await context.gateway();
  const timeoutMs = (request.time_budget_s ?? DEFAULT_BUDGET_S) * 1000 + WAIT_MS;
  const began = Date.now();
  const draw = (): void => context.screen.status(`in the clean room (${duration(Date.now() - began)})`);
  const timer = setInterval(draw, 200);
  try {
    const answer = await gateway.post<CheckReport | Refused>("/checks", request, timeoutMs);
    if (!("error" in answer)) return answer;
    const { code, message, remedy, ...data } = answer.error;
    throw new Failure(code, message, { remedy, data });
  } finally {
    clearInterval(timer);
    context.screen.status(null);
  }
}

/** The status was sent before the check began (see the gateway's README). */
interface Refused {
  readonly error: { readonly code: string; readonly message: string; readonly remedy: string };
}

const HINTS: Readonly<Record<number, string>> = {
  126: "Make the file executable (`git update-index --chmod=+x <file>`), or start it with its interpreter: sh <file>.",
  127: "Correct the name, or use an image that has the program: `antiphon images build --with <toolchains>`, then --image.",
};

/** The first check that failed; null: all passed. */
export function checkFailure({ checks }: CheckReport): Failure | null {
  const failed = checks.find(({ exitCode }) => exitCode !== 0);
  if (failed === undefined) return null;
  const { command, exitCode, tail } = failed;
  const isMissing = exitCode === 127 && /not found/.test(tail);
  const code = isMissing ? "ANT_VERIFY_NO_PROGRAM" : "ANT_VERIFY_CHECK_FAILED";
  const what = isMissing
    ? "names a program that the sandbox lacks"
    : exitCode === 126
      ? "names a file that cannot be executed"
      : `failed (${howItEnded(failed)})`;
  const remedy =
    HINTS[exitCode ?? 0] ?? "Read its output above; the check runs on the tracked files, without a network.";
  return new Failure(code, `the check \`${linesOf(command)[0] ?? ""}\` ${what}`, { remedy, exitCode: 1 });
}

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
    return [
      `${c.red("✗")} ${command}  ${howItEnded(check)} after ${duration(durationMs)}`,
      ...(output === "" ? [] : linesOf(output).map((line) => c.dim(`${BAR}${line}`))),
    ];
  });
  return [...note, ...lines];
}
