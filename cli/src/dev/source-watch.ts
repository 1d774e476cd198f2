// Rebuilds the bundle when a source changes, for `antiphon dev --watch`.
//
// Lifecycle: watching -> (a change, then quiet) -> building -> watching. A change during a build starts one more build.
import { existsSync, readFileSync, watch } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { usage } from "../failure.ts";

/** Waits for a burst of changes to end: an editor writes a file in several steps, a branch checkout writes many files. */
const QUIET_MS = 100;
const FOLDERS = ["contracts", "run", "git", "runtime", "services", "cli"];

/** `scripts/build.mjs` of the checkout; it is not part of the bundle. */
interface Builder {
  ensureBuilt(root: string): Promise<string>;
  /** Protects a build from pruning; returns a function that ends the protection. */
  lease(build: string): () => void;
}

export interface WatchedSources {
  stop(): void;
}

/** Calls `onBuilt` with each new bundle, one after the other, and `onFailed` with the compiler's message. */
export async function watchSources(
  root: string,
  onBuilt: (bundle: string) => Promise<void>,
  onFailed: (message: string) => void,
): Promise<WatchedSources> {
  const script = join(root, "scripts/build.mjs");
  if (!existsSync(script)) throw usage("--watch works only in a checkout: this installation has no sources");
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

/** Chunk names contain a hash of their content, so a service's entry point changes whenever one of its imports does. */
export function isSameService(role: string, before: string, after: string): boolean {
  return ["serve.js", `role-${role}.js`].every((file) =>
    readFileSync(join(before, file)).equals(readFileSync(join(after, file))),
  );
}
