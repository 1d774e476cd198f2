// A deadline for calls to NATS: no answer in time counts as unreachable.
import { AntiphonError } from "@antiphon/contracts";

/** @throws AntiphonError ANT_NATS_UNREACHABLE after `ms` */
export async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new AntiphonError("ANT_NATS_UNREACHABLE", `no answer from NATS within ${ms / 1000} s`)),
      ms,
    );
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
