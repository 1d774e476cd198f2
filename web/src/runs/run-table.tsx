import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { useLayoutEffect, useRef, useState, type ReactElement } from "react";
import type { RunLine } from "../api/run-record.ts";
import { harmless } from "../screen/harmless.ts";
import { Status } from "../screen/status.tsx";
import { ago, duration } from "../screen/time.ts";
import { useNow } from "../screen/use-now.ts";

const ROW_PX = 64;

interface RunTableProps {
  readonly runs: readonly RunLine[];
  readonly isFiltered: boolean;
}

/** Only the visible rows exist, so thousands of runs scroll as smoothly as ten. */
export function RunTable({ runs, isFiltered }: RunTableProps): ReactElement {
  const list = useRef<HTMLUListElement>(null);
  const [top, setTop] = useState(0);
  useLayoutEffect(() => setTop(list.current?.offsetTop ?? 0), []);
  const rows = useWindowVirtualizer({
    count: runs.length,
    estimateSize: () => ROW_PX,
    overscan: 8,
    scrollMargin: top,
  });
  const isOpen = runs.some((run) => run.endedAt === null);
  const now = useNow(runs.length > 0, isOpen ? 1_000 : 60_000);
  if (runs.length === 0)
    return (
      <p className="quiet">{isFiltered ? "No run matches the filter." : "No runs yet. Start one above."}</p>
    );
  return (
    <ul ref={list} className="runs" style={{ height: rows.getTotalSize() }}>
      {rows.getVirtualItems().map(({ index, start }) => {
        const run = runs[index];
        if (run === undefined) return null;
        return (
          <li key={run.runId} style={{ transform: `translateY(${start - top}px)`, height: ROW_PX }}>
            <a href={`#/runs/${run.runId}`}>
              <Status status={run.status} paused={run.paused} />
              <span className="goal">{harmless(run.goal) || run.runId}</span>
              <span className="quiet">{harmless(run.repo)}</span>
              <span className="quiet time">{timeOf(run, now)}</span>
            </a>
          </li>
        );
      })}
    </ul>
  );
}

/** Whether it ran against others, how long, with what, and when it ended. */
function timeOf({ startedAt, endedAt, code, race }: RunLine, now: number): string {
  const end = endedAt === null ? now : Date.parse(endedAt);
  const parts = [
    race === undefined ? null : "race",
    startedAt === null ? null : duration(end - Date.parse(startedAt)),
    code,
    endedAt === null ? null : ago(now - end),
  ];
  return parts.filter((part) => part !== null).join(", ");
}
