// Builds anew when a source changes, for `antiphon dev --watch`.
//
// Lifecycle: watching -> (a change, then quiet) -> building -> watching; a change meanwhile leads to one more build.
import { existsSync, readFileSync, watch } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { usage } from "../failure.ts";

/** Editors write a file in several steps, and a checkout of a branch many files. */
const QUIET_MS = 100;
const FOLDERS = ["contracts", "run", "git", "runtime", "services", "cli"];

/** `scripts/build.mjs` of the checkout; it is no part of the bundle. */
interface Builder {
  ensureBuilt(root: string): Promise<string>;
  /** Keeps a build from being pruned; returns how to take that back. */
  lease(build: string): () => void;
}

export interface WatchedSources {
  stop(): void;
}

/** Calls `onBuilt` with each new bundle, one after the other; `onFailed` with what a compiler says of a source. */
export async function watchSources(
  root: string,
  onBuilt: (bundle: string) => Promise<void>,
  onFailed: (message: string) => void,
): Promise<WatchedSources> {
  const script = join(root, "scripts/build.mjs");
  if (!existsSync(script)) throw usage("--watch needs a checkout: there are no sources here");
  const builder = (await import(pathToFileURL(script).href)) as Builder;
  let timer: NodeJS.Timeout | undefined;
  let building = Promise.resolve();
  let release = (): void => undefined;
  const build = async (): Promise<void> => {
    try {
      const bundle = await builder.ensureBuilt(root);
      const releaseOld = release;
      release = builder.lease(bundle);
      await onBuilt(bundle);
      releaseOld();
    } catch (error) {
      onFailed(error instanceof Error ? error.message.trim() : String(error));
    }
  };
  const changed = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      building = building.then(build);
    }, QUIET_MS);
  };
  const watchers = FOLDERS.map((folder) => watch(join(root, folder), { recursive: true }, changed));
  return {
    stop: () => {
      clearTimeout(timer);
      for (const watcher of watchers) watcher.close();
      release();
    },
  };
}

/** A chunk's name holds its content's hash, so a service's entry point differs when anything it imports does. */
export function isSameService(role: string, before: string, after: string): boolean {
  return ["serve.js", `role-${role}.js`].every((file) =>
    readFileSync(join(before, file)).equals(readFileSync(join(after, file))),
  );
}
