/** Data that is read again and again while it is shown. The last answer stays visible when one fails. */
import { useCallback, useEffect, useRef, useState } from "react";
import { get } from "../api/gateway.ts";
import { Refusal, unreachable } from "../api/refusal.ts";

type Merge<T> = (before: T | null, now: T) => T;

const latest = <T>(_before: T | null, now: T): T => now;

export interface Polled<T> {
  readonly data: T | null;
  readonly refusal: Refusal | null;
  /** Reads at once. */
  readonly again: () => void;
}

/** `merge`: what is shown of the last answers and a new one; a function that stays the same. Default: the new one. */
export function usePolled<T>(path: string, everyMs: number, merge: Merge<T> = latest): Polled<T> {
  const [state, setState] = useState<{ data: T | null; refusal: Refusal | null }>({
    data: null,
    refusal: null,
  });
  const wake = useRef<() => void>(() => undefined);
  useEffect(() => {
    const stop = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const read = async (): Promise<void> => {
      clearTimeout(timer);
      try {
        const now = await get<T>(path, stop.signal);
        setState(({ data }) => ({ data: merge(data, now), refusal: null }));
      } catch (error) {
        if (stop.signal.aborted) return;
        setState(({ data }) => ({ data, refusal: error instanceof Refusal ? error : unreachable(error) }));
      }
      if (!stop.signal.aborted)
        timer = setTimeout(() => void read(), document.hidden ? 10 * everyMs : everyMs);
    };
    wake.current = () => void read();
    void read();
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [path, everyMs, merge]);
  const again = useCallback(() => wake.current(), []);
  return { ...state, again };
}
