// The end of watching a run by Ctrl-C: the run goes on, and the hint names the commands that watch it again and stop it.
import type { CliContext } from "../context.ts";

/** @param again the verb that watches it again */
export function turnedAway(context: CliContext, runId: string, again: "events" | "attach" = "events"): void {
  context.screen.err("");
  context.screen.err(`${runId} is still running.`);
  context.screen.err(`  watch it again: antiphon ${again} ${runId}`);
  context.screen.err(`  stop it:        antiphon cancel ${runId}`);
  context.setExitCode(130);
}
