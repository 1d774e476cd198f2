/** Whether a process can be asked about its attempts, which it learns at its start by asking itself. */
import type { Clock, Presence } from "@antiphon/runtime";

const PAUSE_MS = 150;
/** So often in a row, over five seconds, the server says that nobody listens, before a process believes that it may not listen. */
const REFUSALS = 32;

/**
 * False: this NATS user may not ask or listen there, for example because the server has the rights of an older release. A server
 * that does not answer says nothing about that, so the process asks until it does.
 */
export async function hearsItself(
  ask: () => Promise<Presence["kind"]>,
  clock: Pick<Clock, "sleep">,
  signal: AbortSignal,
): Promise<boolean> {
  for (let refusals = 0; refusals < REFUSALS && !signal.aborted;) {
    const kind = await ask();
    if (kind === "answer") return true;
    if (kind === "forbidden") return false;
    refusals = kind === "nobody" ? refusals + 1 : 0;
    await clock.sleep(PAUSE_MS, signal);
  }
  return false;
}
