// All output of the CLI goes through here: results to stdout, messages about them to stderr.
import pc from "picocolors";

export type Colours = ReturnType<typeof pc.createColors>;

export interface Screen {
  readonly colours: Colours;
  /** True on a terminal, where a line may be redrawn in place. */
  readonly live: boolean;
  out(line: string): void;
  err(line: string): void;
  /** One JSON document on one line. */
  json(value: unknown): void;
  /** A transient last line, redrawn in place; null clears it. Does nothing without a terminal. */
  status(line: string | null): void;
}

export function openScreen(colour: boolean): Screen {
  const live = process.stdout.isTTY === true && colour;
  let status: string | null = null;
  const clear = (): void => {
    if (status !== null) process.stdout.write("\r\u001b[2K");
  };
  const draw = (): void => {
    if (status !== null) process.stdout.write(cut(status, process.stdout.columns || 80));
  };
  const print = (stream: NodeJS.WriteStream, line: string): void => {
    clear();
    stream.write(`${line}\n`);
    draw();
  };
  return {
    colours: pc.createColors(colour),
    live,
    out: (line) => print(process.stdout, line),
    err: (line) => print(process.stderr, line),
    json: (value) => print(process.stdout, JSON.stringify(value)),
    status(line) {
      if (!live || line === status) return;
      clear();
      status = line;
      draw();
    },
  };
}

/** Cuts a status line to the terminal's width, because a wrapped line cannot be cleared. */
function cut(line: string, columns: number): string {
  return line.length < columns ? line : `${line.slice(0, columns - 2)}…`;
}

// Text from outside (a check's output, an agent's summary) must not control the reader's terminal.
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

export function plain(text: string): string {
  return text.replace(CONTROL, (char) =>
    char === "\r" ? "" : `\\x${char.charCodeAt(0).toString(16).padStart(2, "0")}`,
  );
}
