/**
 * Flushes files and names to disk. A file's bytes survive a power cut only after the file was flushed; a new or changed
 * name survives only after its directory was flushed.
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

/** Flushes a directory and everything below it. */
export async function flushAll(directory: string): Promise<void> {
  const entries = await readdir(directory, { withFileTypes: true, recursive: true });
  const paths = entries
    .filter((entry) => entry.isFile() || entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name));
  await Promise.all([...paths, directory].map(flush));
}

/** Flushes those of the paths that exist. */
export async function flushExisting(paths: Iterable<string>): Promise<void> {
  await Promise.all(
    [...new Set(paths)].map((path) =>
      flush(path).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== "ENOENT") throw error;
      }),
    ),
  );
}
