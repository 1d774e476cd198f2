/** A small file system that can be filled, for the server's store. Needs root. Lifecycle: mounted -> (full -> freed)* -> gone. */
import { execFileSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, rmdirSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface SmallDisk {
  readonly path: string;
  fill(): void;
  free(): void;
  remove(): void;
}

const CHUNK = Buffer.alloc(1024 * 1024, 1);

export function mountSmallDisk(mebibytes: number): SmallDisk {
  const path = mkdtempSync(join(tmpdir(), "antiphon-disk-"));
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${mebibytes}m`, "tmpfs", path]);
  const ballast = join(path, "ballast");
  const undo = (): void => {
    execFileSync("umount", ["--lazy", path]);
    rmdirSync(path);
  };
  process.once("exit", undo);
  return {
    path,
    fill() {
      const file = openSync(ballast, "w");
      try {
        for (let part = CHUNK; ;) {
          try {
            writeSync(file, part);
          } catch (error) {
            if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
            if (part.length <= 1024) return; // Not a kilobyte is left.
            part = part.subarray(0, part.length / 2);
          }
        }
      } finally {
        closeSync(file);
      }
    },
    free: () => rmSync(ballast, { force: true }),
    remove() {
      process.off("exit", undo);
      undo();
    },
  };
}
