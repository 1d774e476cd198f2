// Asks an Associate to carry out a recorded attempt once more, and tells it when the caller has gone away.
import { AntiphonError, subjects } from "@antiphon/contracts";
import type { AttemptReplayEvent, AttemptReplayRequest, ReplayReport } from "@antiphon/contracts";
import { converse, tell } from "@antiphon/runtime";
import type { Bus } from "@antiphon/runtime";

export async function askForReplay(
  bus: Bus,
  request: AttemptReplayRequest,
  signal: AbortSignal,
): Promise<ReplayReport> {
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
