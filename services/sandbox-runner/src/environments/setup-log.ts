/** The log of a preparation: each command with its output, both streams in the order in which they came. */
import { limits } from "@antiphon/contracts";
import { OutputBound } from "../conversation/output-bound.ts";

export class SetupLog {
  readonly #kept = new OutputBound(limits.outputKeptBytes);

  command(text: string): void {
    this.push(Buffer.from(`$ ${text}\n`, "utf8"));
  }

  /** A line of Antiphon's own. */
  note(text: string): void {
    this.push(Buffer.from(`[${text}]\n`, "utf8"));
  }

  push(piece: Buffer): void {
    this.#kept.push(piece);
  }

  bytes(): Buffer {
    return this.#kept.finish().bytes;
  }
}
