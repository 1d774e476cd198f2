// Asks an Associate to carry out a recorded attempt once more, and tells it when the caller has gone away. If the one that is asked
// has no room, any Associate is asked again a little later.
import { setTimeout as sleep } from "node:timers/promises";
import { AntiphonError, subjects } from "@antiphon/contracts";
import type { AttemptReplayEvent, AttemptReplayRequest, ReplayReport } from "@antiphon/contracts";
import { converse, tell } from "@antiphon/runtime";
import type { Bus } from "@antiphon/runtime";

/** For an Associate with room: as long as the command line waits. */
const PATIENCE_MS = 10 * 60_000;
const PAUSE_MS = 500;

export async function askForReplay(
  bus: Bus,
  request: AttemptReplayRequest,
  signal: AbortSignal,
): Promise<ReplayReport> {
  const until = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await askOnce(bus, request, signal);
    } catch (thrown) {
      const { code } = AntiphonError.from(thrown);
      if (code !== "ANT_SANDBOX_BUSY" || performance.now() > until) throw thrown;
      await sleep(PAUSE_MS, undefined, { signal }).catch(() => undefined); // `askOnce` says that the caller is gone
    }
  }
}

async function askOnce(bus: Bus, request: AttemptReplayRequest, signal: AbortSignal): Promise<ReplayReport> {
  const cancel = (): void => tell(bus, subjects.control(request.replayId), { kind: "cancel" });
  signal.addEventListener("abort", cancel, { once: true });
  if (signal.aborted) throw new AntiphonError("ANT_SANDBOX_CANCELED", "the caller has gone away");
  try {
    const last = await converse<AttemptReplayEvent>(bus, subjects.attemptReplay, request, {
      isLast: (event) => "kind" in event && event.kind === "done",
      silentCode: "ANT_ASSOCIATE_UNAVAILABLE",
    });
    if (last === null || !("kind" in last) || last.kind !== "done")
      throw new AntiphonError("ANT_ASSOCIATE_UNAVAILABLE", `no Associate answered ${subjects.attemptReplay}`);
    return last.report;
  } finally {
    signal.removeEventListener("abort", cancel);
  }
}
