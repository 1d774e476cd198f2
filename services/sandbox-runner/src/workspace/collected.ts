/**
 * Compares the content of a sandbox with what went in: the result is the changed files and the deletions, or the rule
 * that refuses it. It is a TarSink and never touches a disk.
 *
 * The result depends only on the set of files, not on their order in the archive. `.git` directories are skipped. Paths
 * that git would ignore are no part of a proposal: they are not kept or counted, and no rule refuses them. A path that
 * was there before, or that takes the place of one, cannot be ignored.
 *
 * Promises:
 *   sandbox-runner/S5 Because untrusted code writes every byte of the workspace, only regular files with checked paths
 *     come out; links, devices, malformed archives and anything above a bound are refused by a named rule while reading.
 */
import type { FileMode } from "@antiphon/contracts";
import { checkPath, isInsideGitDirectory } from "./path-rule.ts";
import { Refusal } from "./refusal.ts";
import type { TarEntry, TarSink } from "./tar-reader.ts";
import { comparePaths, type WritableFile } from "./tar-writer.ts";

/** The state of a workspace path when the job began. */
export type BaselineEntry =
  | { readonly kind: "file"; readonly mode: FileMode; readonly size: number; readonly sha256: string }
  | { readonly kind: "symlink"; readonly target: string };

export type Baseline = ReadonlyMap<string, BaselineEntry>;

export interface CollectBounds {
  readonly maxEntries: number;
  readonly maxFiles: number;
  readonly maxBytes: number;
  /** True to skip paths that `.gitignore` files and git's usual exceptions leave out. */
  readonly gitignore?: boolean;
  /** Files of the prepared environment. Changes to them are no part of a proposal. */
  readonly leftOut?: ReadonlySet<string>;
}

export interface Hasher {
  update(piece: Buffer): void;
  /** Lower-case hex. */
  digest(): string;
}

export interface ChangedContent extends WritableFile {
  readonly sha256: string;
}

export interface Collected {
  readonly files: readonly ChangedContent[];
  readonly deletions: readonly string[];
}

/** The paths of the baseline that are known to be as they were, and do not come in the archive. */
export interface UntouchedPaths {
  has(path: string): boolean;
  /** True when one of them is below this path. */
  hasBelow(path: string): boolean;
  /** The other paths of the baseline. */
  suspects(): Iterable<string>;
}

/** Everything comes in the archive. */
function nothingUntouched(baseline: Baseline): UntouchedPaths {
  return { has: () => false, hasBelow: () => false, suspects: () => baseline.keys() };
}

interface OpenFile {
  readonly path: string;
  readonly mode: FileMode;
  readonly size: number;
  readonly before: BaselineEntry | undefined;
  readonly hasher: Hasher;
  /** Null when the file is too large to keep, which is fine only if it turns out to be unchanged. */
  pieces: Buffer[] | null;
}

export class Collector implements TarSink {
  readonly #baseline: Baseline;
  readonly #bounds: CollectBounds;
  readonly #newHasher: () => Hasher;
  readonly #ignores: (path: string) => boolean;
  readonly #untouched: UntouchedPaths;
  readonly #seen = new Map<string, "file" | "symlink">();
  readonly #changed: ChangedContent[] = [];
  #entries = 0;
  #keptBytes = 0;
  #open: OpenFile | null = null;

  constructor(
    baseline: Baseline,
    bounds: CollectBounds,
    newHasher: () => Hasher,
    ignores: (path: string) => boolean = () => false,
    untouched: UntouchedPaths = nothingUntouched(baseline),
  ) {
    this.#baseline = baseline;
    this.#bounds = bounds;
    this.#newHasher = newHasher;
    this.#ignores = ignores;
    this.#untouched = untouched;
  }

  entry(entry: TarEntry): void {
    this.#entries += 1;
    if (this.#entries > this.#bounds.maxEntries) throw new Refusal("too-many-entries", entry.path); // sandbox-runner/S5
    const path = entry.path.startsWith("./") ? entry.path.slice(2) : entry.path;
    if (entry.type === "directory" || isInsideGitDirectory(path)) return;
    const before = this.#baseline.get(path);
    if (before === undefined && this.#ignores(path)) return;
    if (before === undefined) checkPath(path);
    if (this.#has(path)) throw new Refusal("path-duplicate", path);
    if (entry.type === "file") {
      this.#seen.set(path, "file");
      this.#openFile(path, entry, before);
      return;
    }
    const isUntouchedLink =
      entry.type === "symlink" && before?.kind === "symlink" && before.target === entry.link;
    const wasLink = entry.type === "symlink" && before?.kind === "symlink";
    if (!isUntouchedLink) throw new Refusal(wasLink ? "type-symlink-moved" : ruleOf(entry.type), path); // sandbox-runner/S5
    this.#seen.set(path, "symlink");
  }

  data(piece: Buffer): void {
    if (this.#open === null) return;
    this.#open.hasher.update(piece);
    this.#open.pieces?.push(Buffer.from(piece));
  }

  end(): void {
    const file = this.#open;
    this.#open = null;
    if (file === null) return;
    const sha256 = file.hasher.digest();
    const { before } = file;
    if (before?.kind === "file" && before.sha256 === sha256 && before.mode === file.mode) return;
    if (file.pieces === null) throw new Refusal("too-many-bytes", file.path);
    this.#keptBytes += file.size;
    this.#changed.push({ path: file.path, mode: file.mode, content: Buffer.concat(file.pieces), sha256 });
    if (this.#changed.length > this.#bounds.maxFiles) throw new Refusal("too-many-files", file.path); // sandbox-runner/S5
  }

  result(): Collected {
    this.#refuseConflicts();
    const deletions = [...this.#untouched.suspects()].filter((path) => !this.#seen.has(path));
    return {
      files: this.#changed.sort((a, b) => comparePaths(a.path, b.path)),
      deletions: deletions.sort(comparePaths),
    };
  }

  #openFile(path: string, entry: TarEntry, before: BaselineEntry | undefined): void {
    const fits = this.#keptBytes + entry.size <= this.#bounds.maxBytes;
    const couldBeUnchanged = before?.kind === "file" && before.size === entry.size;
    if (!fits && !couldBeUnchanged) throw new Refusal("too-many-bytes", path);
    this.#open = {
      path,
      mode: (entry.mode & 0o111) !== 0 ? "100755" : "100644",
      size: entry.size,
      before,
      hasher: this.#newHasher(),
      pieces: fits ? [] : null,
    };
  }

  #has(path: string): boolean {
    return this.#seen.has(path) || this.#untouched.has(path);
  }

  /** Refuses a file where another file needs a directory. Each directory is checked once. */
  #refuseConflicts(): void {
    const fine = new Set<string>();
    for (const path of this.#seen.keys()) {
      for (let cut = path.lastIndexOf("/"); cut > 0; cut = path.lastIndexOf("/", cut - 1)) {
        const directory = path.slice(0, cut);
        if (fine.has(directory)) break;
        if (this.#has(directory)) throw new Refusal("path-conflict", path);
        fine.add(directory);
      }
      if (this.#untouched.hasBelow(path)) throw new Refusal("path-conflict", path);
    }
  }
}

function ruleOf(type: Exclude<TarEntry["type"], "file" | "directory">) {
  switch (type) {
    case "symlink":
      return "type-symlink";
    case "hardlink":
      return "type-hardlink";
    case "character":
    case "block":
      return "type-device";
    case "fifo":
      return "type-fifo";
  }
}
