import { pino } from "pino";

/**
 * Lines of a log on their way to standard error.
 *
 * Those of one turn of the event loop leave together: a busy service writes hundreds of lines a turn, and a write to a
 * pipe costs more than all the rest of a line. Nothing waits for a timer, so a quiet service tells at once.
 */
export interface LogLines {
  write(line: string): void;
  /** What was said so far is written when this returns. */
  flush(): void;
}

export function turnByTurn(write: (text: string) => void): LogLines {
  let pending = "";
  const flush = (): void => {
    const text = pending;
    pending = "";
    if (text !== "") write(text);
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

/** One for the process, whatever ends it: what was said is written before it is gone. */
export function standardErrorLines(): LogLines {
  if (opened !== null) return opened;
  const stream = pino.destination({ dest: 2, sync: true });
  const lines = turnByTurn((text) => stream.write(text));
  process.on("exit", () => lines.flush());
  return (opened = lines);
}
