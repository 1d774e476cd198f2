import { useEffect, useMemo, useRef, type ReactElement } from "react";
import type { LiveOutput } from "../api/run-record.ts";
import { harmless } from "../screen/harmless.ts";

interface LogTabProps {
  readonly output: readonly LiveOutput[];
  readonly isOver: boolean;
}

/** The live output of the sandboxes, at the end of which the view stays unless a person scrolls up. */
export function LogTab({ output, isOver }: LogTabProps): ReactElement {
  const box = useRef<HTMLPreElement>(null);
  const atEnd = useRef(true);
  const text = useMemo(() => output.map(({ text: piece }) => harmless(piece)).join(""), [output]);
  useEffect(() => {
    if (box.current !== null && atEnd.current) box.current.scrollTop = box.current.scrollHeight;
  }, [text]);
  if (text === "")
    return (
      <p className="quiet">
        {isOver ? "The run is over; its output is under Checks." : "No output since this page was opened."}
      </p>
    );
  return (
    <pre
      ref={box}
      className="log"
      tabIndex={0}
      aria-label="Live log"
      onScroll={({ currentTarget: at }) => {
        atEnd.current = at.scrollTop + at.clientHeight >= at.scrollHeight - 24;
      }}
    >
      {text}
    </pre>
  );
}
