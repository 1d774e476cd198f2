/** Data that is read again and again while it is shown. The last answer stays visible when one fails. */
import { useCallback, useEffect, useRef, useState } from "react";
import { urlOf, type GetAnswer, type GetPath, type ParamsOf } from "@antiphon/client";
import { getJson } from "../api/gateway.ts";
import { Refusal, unreachable } from "../api/refusal.ts";

/** Milliseconds between two readings: the same number, ten times as long in a tab that nobody sees, or one for each. */
export type Pace = number | { readonly seen: number; readonly unseen: number };

type Merge<T> = (before: T | null, now: T) => T;

const latest = <T>(_before: T | null, now: T): T => now;

export interface Polled<T> {
  readonly data: T | null;
  readonly refusal: Refusal | null;
  /** Reads at once. */
  readonly again: () => void;
}

/** `pace` stays the same. `merge`: what is shown of the last answers and a new one; a function that stays the same. Default: the new one. */
export function usePolled<P extends GetPath>(
  path: P,
  params: ParamsOf<P>[0],
  pace: Pace,
  merge: Merge<GetAnswer<P>> = latest,
): Polled<GetAnswer<P>> {
  return usePolledUrl(urlOf(path, ...([params] as ParamsOf<P>)), pace, merge);
}

function usePolledUrl<T>(url: string, pace: Pace, merge: Merge<T>): Polled<T> {
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
        const now = (await getJson(url, stop.signal)) as T;
        setState(({ data }) => ({ data: merge(data, now), refusal: null }));
      } catch (error) {
        if (stop.signal.aborted) return;
        setState(({ data }) => ({ data, refusal: error instanceof Refusal ? error : unreachable(error) }));
      }
      if (!stop.signal.aborted) timer = setTimeout(() => void read(), pauseOf(pace));
    };
    wake.current = () => void read();
    void read();
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [url, pace, merge]);
  const again = useCallback(() => wake.current(), []);
  return { ...state, again };
}

function pauseOf(pace: Pace): number {
  const { seen, unseen } = typeof pace === "number" ? { seen: pace, unseen: 10 * pace } : pace;
  return document.hidden ? unseen : seen;
}
