/** A bounded wait for work that goes on without it. */
import { AntiphonError } from "@antiphon/contracts";

/** Null after `ms`. Rejects when `signal` aborts. */
export async function within<T>(work: Promise<T | null>, ms: number, signal: AbortSignal): Promise<T | null> {
  let release = (): void => undefined;
  const over = new Promise<null>((resolve, reject) => {
    const timer = setTimeout(() => resolve(null), ms);
    const stopped = (): void => reject(new AntiphonError("ANT_SANDBOX_CANCELED", "the dispatch was stopped"));
    if (signal.aborted) stopped();
    signal.addEventListener("abort", stopped, { once: true });
    release = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", stopped);
    };
  });
  return Promise.race([work, over]).finally(release);
}
