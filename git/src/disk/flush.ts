/**
 * Bytes and names that a power cut must not take. A file's bytes are safe when the file was flushed; its name, new or
 * changed, when its directory was. A program that only renames has not written anything yet.
 */
import { closeSync, fsyncSync, openSync } from "node:fs";
import { open, readdir } from "node:fs/promises";
import { join } from "node:path";

/** fsync of a file or a directory. */
export async function flush(path: string): Promise<void> {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

export function flushSync(path: string): void {
  const file = openSync(path, "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Everything in a directory, however deep, and the directory itself. */
export async function flushAll(directory: string): Promise<void> {
  const entries = await readdir(directory, { withFileTypes: true, recursive: true });
  const paths = entries
    .filter((entry) => entry.isFile() || entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name));
  await Promise.all([...paths, directory].map(flush));
}

/** Those of the files and directories that exist. */
export async function flushExisting(paths: Iterable<string>): Promise<void> {
  await Promise.all(
    [...new Set(paths)].map((path) =>
      flush(path).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== "ENOENT") throw error;
      }),
    ),
  );
}
