/** Tells a person who waits for a setup its command, how long it has run, and the last line that it printed. Pure. */
const TOLD_CHARS = 120;
/** Of output without a line break. */
const MOST_WAITING = 4096;
/** Colours and cursor moves of programs that take the log for a terminal. */
const SEQUENCES = /\u001b\[[0-9;?]*[A-Za-z]/g;

export class SetupNews {
  readonly #begunMs: number;
  #command = "";
  #last = "";
  #open = "";

  constructor(begunMs: number) {
    this.#begunMs = begunMs;
  }

  command(text: string): void {
    this.#command = text;
    this.#last = "";
    this.#open = "";
  }

  push(piece: Buffer): void {
    const text = this.#open + piece.toString("utf8");
    const lines = text.split(/[\r\n]+/); // A progress bar begins its line again.
    this.#open = (lines.pop() ?? "").slice(-MOST_WAITING);
    this.#last = lines.findLast((line) => line.trim() !== "") ?? this.#last;
  }

  text(nowMs: number): string {
    const seconds = Math.round((nowMs - this.#begunMs) / 1000);
    const since = seconds === 0 ? "" : ` for ${seconds} s`;
    const said = told(this.#open.trim() === "" ? this.#last : this.#open);
    return `preparing the environment${since}: ${told(this.#command)}${said === "" ? "" : `: ${said}`}`;
  }
}

function told(text: string): string {
  return text.replace(SEQUENCES, "").replaceAll(/\s+/g, " ").trim().slice(0, TOLD_CHARS);
}
