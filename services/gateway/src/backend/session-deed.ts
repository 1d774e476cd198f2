// Asks a Director to carry out a session's command, and tells it when this gateway stops.
import { AntiphonError, subjects } from "@antiphon/contracts";
import type { SessionDeedDone, SessionDeedEvent, SessionDeedRequest } from "@antiphon/contracts";
import { converse, tell } from "@antiphon/runtime";
import type { Bus } from "@antiphon/runtime";

export async function askForDeed(
  bus: Bus,
  request: SessionDeedRequest,
  signal: AbortSignal,
): Promise<SessionDeedDone> {
  const stopped = new AntiphonError("ANT_SANDBOX_CANCELED", "the gateway stops");
  if (signal.aborted) throw stopped;
  let cancel = (): void => undefined;
  const canceled = new Promise<never>((_, reject) => {
    cancel = () => {
      tell(bus, subjects.control(request.deedId), { kind: "cancel" });
      reject(stopped);
    };
  });
  signal.addEventListener("abort", cancel, { once: true });
  try {
    const asked = converse<SessionDeedEvent>(bus, subjects.sessionDeed, request, {
      isLast: (event) => "kind" in event && event.kind === "done",
      silentCode: "ANT_DIRECTOR_UNAVAILABLE",
    });
    const last = await Promise.race([asked, canceled]);
    if (last === null || !("kind" in last) || last.kind !== "done")
      throw new AntiphonError("ANT_DIRECTOR_UNAVAILABLE", `no Director answered ${subjects.sessionDeed}`);
    return last;
  } finally {
    signal.removeEventListener("abort", cancel);
  }
}
