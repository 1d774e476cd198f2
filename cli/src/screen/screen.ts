// The one place that prints: results to stdout, messages about them to stderr. A lint rule keeps all other files of the
// command from the streams, and `test/integration/cli/hostile-output.test.ts` holds every verb to the promise.
//
// How text from outside leaves here depends on the surface:
//   - a line, in a terminal and in a pipe: visible text, because `| less -R` and `| head` end on a terminal as well;
//   - JSON: the same value with every such character as \uXXXX, so a program reads what was there;
//   - a document (a patch, a file of the evidence, a completion script): its bytes in a pipe or a file, where `git apply`
//     needs them, and visible text on a terminal.
//
// Promises:
//   cli/C5 Because everything but our own colours and cursor moves is made visible here, text from outside cannot control
//     a terminal, reorder or hide what is shown, or begin a line of its own.
import { colours, cutTo, rendered, widthOf, type Colours } from "./colours.ts";
import { failureLines } from "./failure-lines.ts";
import type { Failure } from "../failure.ts";
import type { Stream, Terminal } from "./terminal.ts";
import { linesOf, visibleJson } from "@antiphon/contracts/shapes/visible-text";

export interface Screen {
  readonly colours: Colours;
  /** True on a terminal with colours, where a line may be redrawn in place. */
  readonly live: boolean;
  /** The columns of the terminal, as it is now; null: the result goes to a pipe or a file. */
  readonly width: number | null;
  /** One line of a result; a line break in it is shown as \n. */
  out(line: string): void;
  /** One line about a result. */
  err(line: string): void;
  /** A text of several lines, each behind `before`. */
  text(text: string, before?: string): void;
  /** One JSON document on one line. */
  json(value: unknown): void;
  /** One JSON document on stderr, as services log. */
  logJson(value: unknown): void;
  document(content: string | Uint8Array): void;
  failure(failure: Pick<Failure, "code" | "message" | "remedy">): void;
  /** A transient last line, redrawn in place; null clears it. Does nothing without a terminal. */
  status(line: string | null): void;
  /** Empties the terminal; does nothing without one. */
  clear(): void;
}

/** @param wish colours always (true) or never (false); null: where a stream is a terminal. */
export function openScreen(wish: boolean | null, { stdout, stderr }: Terminal): Screen {
  const isColoured = (stream: Stream): boolean => wish ?? stream.isTTY === true;
  const live = stdout.isTTY === true && isColoured(stdout);
  let status: string | null = null;
  const erase = (): void => {
    if (status !== null) stdout.write("\r\u001b[2K");
  };
  const draw = (): void => {
    if (status !== null) stdout.write(rendered(status, true));
  };
  const write = (stream: Stream, text: string | Uint8Array): void => {
    erase();
    stream.write(text);
    draw();
  };
  const print = (stream: Stream, line: string): void =>
    write(stream, `${rendered(line, isColoured(stream))}\n`); // cli/C5
  const text = (content: string, before = ""): void => {
    for (const line of linesOf(content)) print(stdout, `${before}${line}`);
  };
  return {
    colours,
    live,
    get width() {
      return stdout.isTTY === true ? stdout.columns || 80 : null;
    },
    out: (line) => print(stdout, line),
    err: (line) => print(stderr, line),
    text,
    json: (value) => write(stdout, `${visibleJson(JSON.stringify(value) ?? "null")}\n`),
    logJson: (value) => write(stderr, `${visibleJson(JSON.stringify(value))}\n`),
    document(content) {
      if (stdout.isTTY !== true) return write(stdout, content);
      text((typeof content === "string" ? content : new TextDecoder().decode(content)).replace(/\r?\n$/, ""));
    },
    failure(failure) {
      for (const line of failureLines(failure)) print(stderr, line);
    },
    status(line) {
      const next = line === null ? null : cut(line, stdout.columns || 80);
      if (!live || next === status) return;
      erase();
      status = next;
      draw();
    },
    clear() {
      if (live) write(stdout, "\u001b[2J\u001b[H");
    },
  };
}

/** Cuts a status line to the terminal's width, because a wrapped line cannot be erased. It has no colours. */
function cut(line: string, columns: number): string {
  return widthOf(line) < columns ? line : `${cutTo(line, columns - 2)}…`;
}
