/** A repository of any size that is made quickly: each file is a pattern that compresses well, and no two are equal. */
import { spawnSync } from "node:child_process";
import { closeSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { makeRepo, tempDir, type TestRepo } from "./repo.ts";

export interface LargeSpec {
  readonly mib: number;
  readonly fileMiB: number;
  /** Further files of its only commit. */
  readonly files?: Readonly<Record<string, string>>;
}

const MiB = 1024 * 1024;

/** Its files are f0, f1 and so on. Its work tree is empty. */
export function largeRepo({ mib, fileMiB, files = {} }: LargeSpec): TestRepo {
  const repo = makeRepo({ unborn: true });
  const orders = join(tempDir(), "orders");
  const file = openSync(orders, "w");
  writeSync(
    file,
    "commit refs/heads/main\ncommitter Ada <ada@example.test> 1767225600 +0000\ndata 5\nlarge\n",
  );
  for (const [name, text] of Object.entries(files))
    writeSync(file, `M 100644 inline ${name}\ndata ${Buffer.byteLength(text)}\n${text}\n`);
  const piece = Buffer.alloc(Math.min(1, fileMiB) * MiB, "All work and no play makes a large file.\n");
  for (let at = 0; at * fileMiB < mib; at += 1) {
    writeSync(file, `M 100644 inline f${at}\ndata ${fileMiB * MiB}\n`);
    for (let part = 0; part < Math.max(1, fileMiB); part += 1) {
      piece.writeUInt32LE(at * Math.max(1, fileMiB) + part);
      writeSync(file, piece);
    }
    writeSync(file, "\n");
  }
  closeSync(file);
  const input = openSync(orders, "r");
  const args = [
    "-c",
    "core.compression=1",
    "-c",
    "core.bigFileThreshold=1m",
    "fast-import",
    "--quiet",
    "--depth=0",
  ];
  const { status } = spawnSync("git", args, { cwd: repo.path, stdio: [input, "inherit", "inherit"] });
  closeSync(input);
  rmSync(orders);
  if (status !== 0) throw new Error(`fast-import ended with ${status}`);
  repo.head = repo.git("rev-parse", "main");
  return repo;
}
