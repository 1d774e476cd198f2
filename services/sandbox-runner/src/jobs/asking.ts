/**
 * How the commands of a job ask a person: by the program `antiphon-ask`, which is on their PATH. It moves the question to a
 * file that the supervisor looks at, waits for another file, and prints it. The time limits rest meanwhile.
 *
 * Lifecycle of a question: asked -> answered | given up, when limits.askHoldMs are over for all questions of the job.
 *
 * It is told with the files that the commands have changed until then, so that another container can begin with them, and with what
 * the command has printed, so that the attempt that asked has a log. Both are read while the command waits. A store that stalls
 * holds it for limits.askStateMs only; it then goes out with what was read.
 *
 * The question is told again with each beat until it is answered, and an answer that comes twice counts once, so neither can
 * be lost on its way.
 */
import { limits, type SandboxAnswer, type SandboxEvent } from "@antiphon/contracts";
import { withDeadline } from "@antiphon/runtime";
import type { Sandbox } from "../ports.ts";
import { INBOX_FILE, INBOX_TEXT } from "./inbox.ts";

/** /tmp can be written to and executed in; nothing of it is collected. */
const DIRECTORY = "/tmp/.antiphon-bin";
const PROGRAM = `#!/bin/sh
# antiphon-ask "question" [--choice <answer>]...: asks the person for whom this runs, waits, and prints the answer.
question=""
choices=""
while [ $# -gt 0 ]; do
  case $1 in
    --choice) [ $# -gt 1 ] || { echo "antiphon-ask: --choice needs a value" >&2; exit 64; }
      choices="$choices\${choices:+ | }$2"; shift 2 ;;
    --help | -h) echo 'usage: antiphon-ask "question" [--choice <answer>]...'; exit 0 ;;
    *) question="$question\${question:+ }$1"; shift ;;
  esac
done
[ -n "$question" ] || { echo 'usage: antiphon-ask "question" [--choice <answer>]...' >&2; exit 64; }
until mkdir /tmp/.antiphon-asking 2>/dev/null; do sleep 1; done
trap 'rmdir /tmp/.antiphon-asking' EXIT
trap 'exit 130' HUP INT TERM
rm -f /tmp/.antiphon-answer
printf '%s' "$question\${choices:+ [$choices]}" > /tmp/.antiphon-question.draft
mv -f /tmp/.antiphon-question.draft /tmp/.antiphon-question
until [ -f /tmp/.antiphon-answer ]; do sleep 0.2 2>/dev/null || sleep 1; done
cat /tmp/.antiphon-answer
rm -f /tmp/.antiphon-answer
`;
const PLACE = `
mkdir -p ${DIRECTORY} && cd ${DIRECTORY} || exit
printf '%s' "$1" > antiphon-ask && printf '%s' "$2" > ${INBOX_FILE} && chmod 755 antiphon-ask ${INBOX_FILE}`;

type Question = Extract<SandboxEvent, { kind: "question" }>;

interface Open {
  readonly question: Question;
  isTold: boolean;
  readonly sinceMs: number;
}

export interface AskingParts {
  readonly sandbox: Pick<Sandbox, "run" | "canAsk" | "answer">;
  readonly emit: (event: SandboxEvent) => void;
  /** Shows in the engine's listing for which attempt the container goes on. */
  readonly goesOnFor: (epoch: number) => void;
  /** Tells people who watch the job. */
  readonly report: (text: string) => void;
  /** The changes of the commands until now; null: they cannot be read. Default: no changes are told. */
  readonly tree?: () => Promise<NonNullable<Question["tree"]> | null>;
}

/** The output of a command so far. Null: the output could not be kept. */
export type Printed = () => Promise<NonNullable<Question["step"]> | null>;

/** Of the questions of a job, so many are told with files. A program may replace its question as often as it likes, and files are kept. */
const MOST_TREES = 16;

export class Asking {
  readonly #parts: AskingParts;
  readonly #unanswered = new AbortController();
  #isPlaced = false;
  #open: Open | null = null;
  /** Ends when no question's files are being read. */
  #reading: Promise<void> = Promise.resolve();
  #asked = 0;
  #waitedMs = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(parts: AskingParts) {
    this.#parts = parts;
  }

  /** Aborts when nobody answered in time. */
  get unanswered(): AbortSignal {
    return this.#unanswered.signal;
  }

  /** The PATH for a command that may ask; null where the supervisor cannot carry a question. */
  async pathFor(env: Readonly<Record<string, string>>): Promise<string | null> {
    const { sandbox } = this.#parts;
    if (sandbox.canAsk !== true) return null;
    const path = env["PATH"] ?? "/usr/local/bin:/usr/bin:/bin";
    if (!this.#isPlaced) {
      const { exitCode } = await sandbox.run({
        ...{
          argv: ["sh", "-c", PLACE, "sh", PROGRAM, INBOX_TEXT],
          cwd: "/tmp",
          env: { PATH: path },
          stdin: null,
        },
        ...{ timeoutMs: 10_000, keepBytes: 1024, maxOutputBytes: 64 * 1024 },
      });
      if (exitCode !== 0) return null;
      this.#isPlaced = true;
    }
    return `${DIRECTORY}:${path}`;
  }

  /** A command asks. A second question before the answer to the first replaces it: its asker is gone. */
  ask(text: string, printed?: Printed): void {
    this.#settle();
    const question: Question = { kind: "question", number: (this.#asked += 1), text: text.slice(0, 4000) };
    const reads = this.#asked <= MOST_TREES && (this.#parts.tree !== undefined || printed !== undefined);
    const open: Open = { question, isTold: !reads, sinceMs: performance.now() };
    this.#open = open;
    const leftMs = Math.max(0, limits.askHoldMs - this.#waitedMs);
    this.#timer = setTimeout(() => this.#unanswered.abort("nobody answered its question in time"), leftMs);
    this.repeat();
    if (reads) void this.#tellWithState(open, printed);
  }

  /** Told only with the files: a listener may hear of the question just once. */
  async #tellWithState(open: Open, printed?: Printed): Promise<void> {
    const late = (): never => {
      throw new Error("the store did not answer in time");
    };
    // One after the other, so that a store that stalls leaves the output of one question in memory.
    const read = this.#reading.then(() => (this.#open === open ? this.#readState(open, printed) : undefined));
    this.#reading = read.catch(() => undefined); // its failure is reported below
    try {
      await withDeadline(limits.askStateMs, read, late);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      this.#parts.report(`the question goes out without all that is kept with it: ${why}`);
    }
    open.isTold = true;
    if (this.#open === open) this.repeat();
  }

  /** The output comes last: some of it may be on its way while the files are read. */
  async #readState(into: Open, printed?: Printed): Promise<void> {
    const tree = (await this.#parts.tree?.()) ?? null;
    if (tree !== null && !into.isTold) into.question.tree = tree;
    const step = (await printed?.()) ?? null;
    if (step !== null && !into.isTold) into.question.step = step;
  }

  /** Tells the open question again. */
  repeat(): void {
    if (this.#open?.isTold === true) this.#parts.emit(this.#open.question);
  }

  answer({ number, text, epoch }: SandboxAnswer): void {
    if (this.#open?.question.number !== number) return;
    this.#settle();
    this.#parts.goesOnFor(epoch);
    this.#parts.sandbox.answer?.(text);
  }

  /** The command has ended. Returns for how long commands have waited so far. */
  end(): number {
    this.#settle();
    return this.#waitedMs;
  }

  #settle(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    if (this.#open !== null) this.#waitedMs += performance.now() - this.#open.sinceMs;
    this.#open = null;
  }
}
