// A log line that cannot be written, for example on a full disk, is dropped: the services and their supervisor go on.
//
// A bounded log file: at 16 MiB it is renamed to `<name>.1` and a new one begins, so a child keeps at most 32 MiB.
import { closeSync, mkdirSync, openSync, renameSync, writeSync } from "node:fs";
import { dirname } from "node:path";

const DROPS: ReadonlySet<string | undefined> = new Set(["ENOSPC", "EDQUOT", "EIO", "EROFS"]);
const MAX_BYTES = 16 * 1024 * 1024;

export class LogFile {
  readonly path: string;
  #fd: number;
  #bytes = 0;

  constructor(path: string) {
    this.path = path;
    mkdirSync(dirname(path), { recursive: true });
    this.#fd = openSync(path, "w");
  }

  write(line: string): void {
    if (this.#fd === -1) return;
    try {
      this.#append(line);
    } catch (error) {
      if (!DROPS.has((error as NodeJS.ErrnoException).code)) throw error;
    }
  }

  #append(line: string): void {
    const bytes = Buffer.from(`${line}\n`);
    if (this.#bytes + bytes.length > MAX_BYTES) {
      closeSync(this.#fd);
      renameSync(this.path, `${this.path}.1`);
      this.#fd = openSync(this.path, "w");
      this.#bytes = 0;
    }
    writeSync(this.#fd, bytes);
    this.#bytes += bytes.length;
  }

  close(): void {
    if (this.#fd !== -1) closeSync(this.#fd);
    this.#fd = -1;
  }
}
