// A deadline for calls to NATS: no answer in time counts as unreachable.
import { AntiphonError } from "@antiphon/contracts";
import { withDeadline } from "@antiphon/runtime";

/** @throws AntiphonError ANT_NATS_UNREACHABLE after `ms` */
export async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  return withDeadline(ms, work, () => {
    throw new AntiphonError("ANT_NATS_UNREACHABLE", `no answer from NATS within ${ms / 1000} s`);
  });
}
