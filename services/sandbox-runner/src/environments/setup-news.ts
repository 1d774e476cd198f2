/** Tells a person who waits for a setup its command, how long it has run, and the last line that it printed. Pure. */
const TOLD_CHARS = 120;
/** Of output without a line break. */
const MOST_WAITING = 4096;
/** Colours and cursor moves of programs that take the log for a terminal. */
const SEQUENCES = /\u001b\[[0-9;?]*[A-Za-z]/g;
/** npm warns of variables that are for pnpm, and of old packages, and a JVM tells of its proxy; then both are silent for long. */
const WARNING = /^\s*(npm warn\b|Picked up JAVA_TOOL_OPTIONS:)/i;

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

  /** The commands have ended, and what they made is read out of the sandbox. */
  storing(): void {
    this.command("storing what it has made");
  }

  push(piece: Buffer): void {
    const text = this.#open + piece.toString("utf8");
    const lines = text.split(/[\r\n]+/); // A progress bar begins its line again.
    this.#open = (lines.pop() ?? "").slice(-MOST_WAITING);
    this.#last = lines.findLast(isNews) ?? this.#last;
  }

  text(nowMs: number): string {
    const seconds = Math.round((nowMs - this.#begunMs) / 1000);
    const since = seconds === 0 ? "" : ` for ${seconds} s`;
    const said = told(isNews(this.#open) ? this.#open : this.#last);
    return `preparing the environment${since}: ${told(this.#command)}${said === "" ? "" : `: ${said}`}`;
  }
}

function isNews(line: string): boolean {
  const plain = line.replace(SEQUENCES, "");
  return plain.trim() !== "" && !WARNING.test(plain);
}

function told(text: string): string {
  return text.replace(SEQUENCES, "").replaceAll(/\s+/g, " ").trim().slice(0, TOLD_CHARS);
}
