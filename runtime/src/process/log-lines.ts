import { visibleJson } from "@antiphon/contracts/shapes/visible-text";
import { pino } from "pino";

/**
 * Writes log lines to standard error.
 *
 * The lines of one turn of the event loop are written together: a busy service writes hundreds of lines a turn, and a
 * write to a pipe costs more than making the line. No timer is involved, so a quiet service logs at once.
 *
 * A line may quote text from outside and end on a terminal, so no control or bidi character leaves unescaped.
 */
export interface LogLines {
  write(line: string): void;
  /** Writes all pending lines before it returns. */
  flush(): void;
}

export function turnByTurn(write: (text: string) => void): LogLines {
  let pending = "";
  const flush = (): void => {
    const text = pending;
    pending = "";
    if (text !== "") write(visibleJson(text));
  };
  return {
    write(line) {
      if (pending === "") setImmediate(flush);
      pending += line;
    },
    flush,
  };
}

let opened: LogLines | null = null;

/** One for the process. Pending lines are written before the process exits. */
export function standardErrorLines(): LogLines {
  if (opened !== null) return opened;
  const stream = pino.destination({ dest: 2, sync: true });
  const lines = turnByTurn((text) => stream.write(text));
  process.on("exit", () => lines.flush());
  return (opened = lines);
}
