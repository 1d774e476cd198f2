/** The position of the patch reader, and its refusals, which carry the current file and line. */
import { refuse } from "./patch-refusal.ts";

type Code = "MALFORMED" | "HEADER" | "BINARY" | "TRUNCATED";

export class PatchCursor {
  readonly lines: readonly string[];
  /** Index of the next line to read. */
  at: number;
  /** Index of the `diff --git` line of the current file. */
  first = 0;
  path: string | null = null;

  constructor(lines: readonly string[]) {
    this.lines = lines;
    this.at = 0;
  }

  get line(): string {
    return this.lines[this.at] ?? "";
  }

  get atEnd(): boolean {
    return this.at >= this.lines.length;
  }

  /** @param line from 1; default: the current line */
  fail(code: Code, rule: string, message: string, line = this.at + 1): never {
    return refuse(`ANT_PATCH_${code}`, rule, message, { path: this.path, line });
  }

  /** Like `fail`, but about the file as a whole. */
  failFile(code: Code, rule: string, message: string): never {
    return this.fail(code, rule, message, this.first + 1);
  }
}
