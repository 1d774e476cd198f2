/** The runs that the page has read so far, and how to read older ones. */
import { useCallback, useMemo, useState } from "react";
import type { RunPage } from "@antiphon/client";
import { get } from "../api/gateway.ts";
import type { RunLine } from "../api/run-record.ts";
import { usePolled, type Polled } from "../screen/polled.ts";
import { followed, refreshed } from "./run-pages.ts";

const PAGE = 1_000;
const EVERY_MS = 3_000;

export interface Runs extends Pick<Polled<RunPage>, "refusal" | "again"> {
  /** Null: none was read yet. */
  readonly runs: readonly RunLine[] | null;
  /** Reads the page with older runs; null: there are none. */
  readonly readOlder: (() => Promise<void>) | null;
}

export function useRuns(): Runs {
  const { data, refusal, again } = usePolled("/runs", { limit: PAGE }, EVERY_MS, refreshed);
  const [older, setOlder] = useState<RunPage | null>(null);
  const next = older === null ? (data?.next ?? null) : older.next;
  const readOlder = useCallback(async () => {
    if (next === null) return;
    const page = await get("/runs", { limit: PAGE, cursor: next });
    setOlder((before) => (before === null ? page : followed(before, page)));
  }, [next]);
  const runs = useMemo(() => (data === null ? null : [...data.runs, ...(older?.runs ?? [])]), [data, older]);
  return { runs, refusal, again, readOlder: next === null ? null : readOlder };
}
