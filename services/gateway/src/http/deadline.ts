// A deadline for calls to NATS: no answer in time counts as unreachable.
import { AntiphonError } from "@antiphon/contracts";
import { withDeadline } from "@antiphon/runtime";

export const DEADLINE_MS = 2_500;

/** @throws AntiphonError ANT_NATS_UNREACHABLE after `DEADLINE_MS` */
export async function soon<T>(work: Promise<T>): Promise<T> {
  return withDeadline(DEADLINE_MS, work, () => {
    throw new AntiphonError("ANT_NATS_UNREACHABLE", `no answer from NATS within ${DEADLINE_MS / 1000} s`);
  });
}
