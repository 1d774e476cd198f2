/**
 * Live output for people who watch: pieces are gathered for a moment, cut to a bound, and published. Pieces may be lost
 * here, but never more than the bound is sent; conversation/output-bound.ts keeps the output that is evidence.
 */
import { StringDecoder } from "node:string_decoder";
import type { LogLine } from "@antiphon/contracts";

export type LogStreamName = "stdout" | "stderr";

const GATHER_MS = 100;
const PIECE_BYTES = 16 * 1024;
const JOB_BYTES = 1024 * 1024;

export class LiveLog {
  readonly #say: (stream: LogStreamName, line: LogLine) => void;
  readonly #epoch: number;
  readonly #waiting = new Map<LogStreamName, Buffer>();
  readonly #decoders = { stdout: new StringDecoder("utf8"), stderr: new StringDecoder("utf8") };
  #left = JOB_BYTES;
  #timer: NodeJS.Timeout | null = null;

  constructor(epoch: number, say: (stream: LogStreamName, line: LogLine) => void) {
    this.#epoch = epoch;
    this.#say = say;
  }

  push(stream: LogStreamName, piece: Buffer): void {
    if (this.#left <= 0) return;
    const before = this.#waiting.get(stream) ?? Buffer.alloc(0);
    const room = Math.max(0, PIECE_BYTES - before.length);
    if (room > 0) this.#waiting.set(stream, Buffer.concat([before, piece.subarray(0, room)]));
    this.#timer ??= setTimeout(() => {
      this.flush();
    }, GATHER_MS).unref();
  }

  flush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    for (const [stream, bytes] of this.#waiting) {
      this.#left -= bytes.length;
      const text = this.#decoders[stream].write(bytes);
      if (text !== "") this.#say(stream, { text, epoch: this.#epoch });
      if (this.#left <= 0) this.#say(stream, { text: "\n[live output ends here]\n", epoch: this.#epoch });
    }
    this.#waiting.clear();
  }
}
