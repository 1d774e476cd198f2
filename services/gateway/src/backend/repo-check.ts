// Asks a Director for a check without a run, and tells it when the caller has gone away.
import { AntiphonError, subjects } from "@antiphon/contracts";
import type { RepoChecked, RepoCheckEvent, RepoCheckRequest } from "@antiphon/contracts";
import { converse, tell } from "@antiphon/runtime";
import type { Bus } from "@antiphon/runtime";

export async function askForCheck(
  bus: Bus,
  request: RepoCheckRequest,
  signal: AbortSignal,
): Promise<RepoChecked> {
  const cancel = (): void => tell(bus, subjects.control(request.checkId), { kind: "cancel" });
  signal.addEventListener("abort", cancel, { once: true });
  if (signal.aborted) throw new AntiphonError("ANT_SANDBOX_CANCELED", "the caller has gone away");
  try {
    const last = await converse<RepoCheckEvent>(bus, subjects.repoCheck, request, {
      isLast: (event) => "kind" in event && event.kind === "done",
      silentCode: "ANT_DIRECTOR_UNAVAILABLE",
    });
    if (last === null || !("kind" in last) || last.kind !== "done")
      throw new AntiphonError("ANT_DIRECTOR_UNAVAILABLE", `no Director answered ${subjects.repoCheck}`);
    return last;
  } finally {
    signal.removeEventListener("abort", cancel);
  }
}
