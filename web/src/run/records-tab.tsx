import { useVirtualizer } from "@tanstack/react-virtual";
import { useRef, useState, type ReactElement } from "react";
import type { RunRecord } from "../api/run-record.ts";
import { harmless } from "../screen/harmless.ts";
import { clockTime } from "../screen/time.ts";
import { sentenceOf } from "./sentence.ts";

/** Every record, one a line; the chosen one in full. */
export function RecordsTab({ records }: { readonly records: readonly RunRecord[] }): ReactElement {
  const box = useRef<HTMLDivElement>(null);
  const [chosen, setChosen] = useState<number | null>(null);
  const rows = useVirtualizer({
    count: records.length,
    getScrollElement: () => box.current,
    estimateSize: () => 32,
    overscan: 10,
  });
  const record = records.find(({ seq }) => seq === chosen);
  return (
    <div className="records">
      <div ref={box} className="scroll" tabIndex={0} aria-label="Records">
        <ul style={{ height: rows.getTotalSize() }}>
          {rows.getVirtualItems().map(({ index, start, size }) => {
            const row = records[index];
            if (row === undefined) return null;
            return (
              <li key={row.seq} style={{ transform: `translateY(${start}px)`, height: size }}>
                <button type="button" aria-pressed={row.seq === chosen} onClick={() => setChosen(row.seq)}>
                  <span className="quiet time">{clockTime(row.at)}</span> <code>{row.type}</code>{" "}
                  {sentenceOf(row, records)}
                </button>
              </li>
            );
          })}
        </ul>
      </div>
      {record !== undefined && (
        <pre className="log" tabIndex={0} aria-label="Record">
          {harmless(JSON.stringify(record, null, 2))}
        </pre>
      )}
    </div>
  );
}
