import type { ReactElement } from "react";
import type { RunRecord } from "../api/run-record.ts";
import { clockTime } from "../screen/time.ts";
import { sentenceOf } from "./sentence.ts";

interface TimeSliderProps {
  readonly records: readonly RunRecord[];
  /** Null: the newest. */
  readonly upTo: number | null;
  readonly onChange: (upTo: number | null) => void;
}

/** Moves through the records of a run: everything below shows the run as it was after the chosen one. */
export function TimeSlider({ records, upTo, onChange }: TimeSliderProps): ReactElement {
  const at = upTo ?? records.length;
  const record = records[at - 1];
  const text = record === undefined ? "" : `${clockTime(record.at)}, ${sentenceOf(record, records)}`;
  return (
    <div className="slider">
      <label>
        <span className="unseen">Time in this run</span>
        <input
          type="range"
          min={1}
          max={Math.max(1, records.length)}
          value={at}
          aria-valuetext={text}
          onChange={(event) => {
            const chosen = Number(event.target.value);
            onChange(chosen >= records.length ? null : chosen);
          }}
        />
      </label>
      <output>
        {at} of {records.length}: {text}
      </output>
      {upTo !== null && (
        <button type="button" onClick={() => onChange(null)}>
          Now
        </button>
      )}
    </div>
  );
}
