/** Where the reader of a patch is, and how it refuses: with the file it is in and the line it is at. */
import { refuse } from "./patch-refusal.ts";

type Code = "MALFORMED" | "HEADER" | "BINARY" | "TRUNCATED";

export class PatchCursor {
  readonly lines: readonly string[];
  /** Index of the line to read next. */
  at: number;
  /** Index of the `diff --git` line of the file it is in. */
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

  /** @param line from 1; default: the line it is at */
  fail(code: Code, rule: string, message: string, line = this.at + 1): never {
    return refuse(`ANT_PATCH_${code}`, rule, message, { path: this.path, line });
  }

  /** As `fail`, about the file as a whole. */
  failFile(code: Code, rule: string, message: string): never {
    return this.fail(code, rule, message, this.first + 1);
  }
}
