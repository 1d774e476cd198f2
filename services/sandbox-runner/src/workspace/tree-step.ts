/**
 * From one tree to another of the same repository: what to remove from a sandbox that holds the first, and which files to put
 * in. A commit changes few files, so this is less than emptying and filling the workspace. The result is the same workspace:
 * files of equal content and mode stay, with their time.
 */
import { STEP_BYTES } from "@antiphon/git";
import type { BaselineEntry } from "./collected.ts";
import { TarReader, type TarEntry, type TarSink } from "./tar-reader.ts";
import type { WritableFile } from "./tar-writer.ts";
import type { Tree } from "./tree-archive.ts";

export interface TreeStep {
  /** Files and directories, each before what takes its place. */
  readonly remove: readonly string[];
  readonly put: ReadonlySet<string>;
}

type Held = Pick<Tree, "baseline" | "directories">;

/** Null: the trees have too little in common, or too much is to be put in, or they differ in what a tar of files cannot bring. */
export function stepBetween(from: Held, to: Held): TreeStep | null {
  if (from.directories.join("\0") !== to.directories.join("\0")) return null;
  const put = new Set<string>();
  let bytes = 0;
  for (const [path, entry] of to.baseline) {
    if (isSame(from.baseline.get(path), entry)) continue;
    if (entry.kind !== "file") return null;
    put.add(path);
    if ((bytes += entry.size) > STEP_BYTES) return null;
  }
  if (put.size > to.baseline.size / 2) return null;
  const staying = directoriesOf(to);
  const gone = [...directoriesOf(from)].filter((path) => !staying.has(path));
  const left = [...from.baseline.keys()].filter((path) => !to.baseline.has(path) || put.has(path));
  return { remove: [...gone, ...left], put };
}

/** The named files of a tree. */
export async function filesIn(
  tree: Pick<Tree, "tar" | "held">,
  paths: ReadonlySet<string>,
): Promise<WritableFile[]> {
  const { held } = tree;
  if (held !== undefined && [...paths].every((path) => held.has(path)))
    return [...paths].flatMap((path) => held.get(path) ?? []);
  const sink = new NamedFiles(paths);
  const reader = new TarReader(sink);
  for await (const piece of tree.tar()) reader.push(piece);
  reader.finish();
  return sink.files;
}

function isSame(a: BaselineEntry | undefined, b: BaselineEntry): boolean {
  if (a?.kind === "file" && b.kind === "file") return a.sha256 === b.sha256 && a.mode === b.mode;
  return a?.kind === "symlink" && b.kind === "symlink" && a.target === b.target;
}

function directoriesOf({ baseline, directories }: Held): ReadonlySet<string> {
  const found = new Set<string>(directories);
  for (const path of [...baseline.keys(), ...directories])
    for (let at = path.lastIndexOf("/"); at > 0; at = path.lastIndexOf("/", at - 1)) {
      const directory = path.slice(0, at);
      if (found.has(directory)) break;
      found.add(directory);
    }
  return found;
}

class NamedFiles implements TarSink {
  readonly files: WritableFile[] = [];
  readonly #paths: ReadonlySet<string>;
  #open: { readonly entry: TarEntry; readonly pieces: Buffer[] } | null = null;

  constructor(paths: ReadonlySet<string>) {
    this.#paths = paths;
  }

  entry(entry: TarEntry): void {
    if (entry.type === "file" && this.#paths.has(entry.path)) this.#open = { entry, pieces: [] };
  }

  data(piece: Buffer): void {
    this.#open?.pieces.push(Buffer.from(piece));
  }

  end(): void {
    if (this.#open === null) return;
    const { entry, pieces } = this.#open;
    const mode = (entry.mode & 0o111) === 0 ? "100644" : "100755";
    this.files.push({ path: entry.path, mode, content: Buffer.concat(pieces) });
    this.#open = null;
  }
}
