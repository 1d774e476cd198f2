/** The index of a base tree beside its tar on the disk: what the tar holds, by path. */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { gitObject, type ObjectFormat } from "@antiphon/git";
import type { BaselineEntry } from "./collected.ts";
import type { TarEntry, TarSink } from "./tar-reader.ts";

export interface IndexDocument {
  readonly version: 3;
  readonly digest: string;
  readonly contentBytes: number;
  readonly directories: readonly string[];
  readonly entries: readonly (readonly [path: string, entry: BaselineEntry])[];
  /** Git's ids of the entries, in their order. Absent: the object is no whole tree of a commit. */
  readonly ids?: readonly string[];
}

export async function readIndex(path: string): Promise<IndexDocument | null> {
  const text = await readFile(path, "utf8").catch(() => null);
  if (text === null) return null;
  try {
    const document = JSON.parse(text) as IndexDocument;
    return document.version === 3 ? document : null;
  } catch {
    return null; // the disk was full, or the format is old: the tree is fetched again
  }
}

/** Records the entries of a tree by path. Directories are no entries of their own, as in git, but for those of submodules. */
export class IndexSink implements TarSink {
  readonly entries: [string, BaselineEntry][] = [];
  readonly directories: string[] = [];
  readonly ids: string[] | null;
  contentBytes = 0;
  readonly #format: ObjectFormat | null;
  #open: {
    path: string;
    mode: "100644" | "100755";
    size: number;
    hash: ReturnType<typeof createHash>;
    id: ReturnType<typeof createHash> | null;
  } | null = null;

  /** `format`: git's ids of the entries are told as well. */
  constructor(format: ObjectFormat | null) {
    this.#format = format;
    this.ids = format === null ? null : [];
  }

  entry(entry: TarEntry): void {
    if (entry.type === "symlink") {
      this.entries.push([entry.path, { kind: "symlink", target: entry.link }]);
      if (this.#format !== null) this.ids?.push(gitObject(this.#format, "blob", Buffer.from(entry.link)).id);
    }
    if (entry.type === "directory") this.directories.push(entry.path.replace(/\/$/, ""));
    if (entry.type !== "file") return;
    this.contentBytes += entry.size;
    const mode = (entry.mode & 0o111) !== 0 ? "100755" : "100644";
    const id = this.#format === null ? null : createHash(this.#format).update(`blob ${entry.size}\0`);
    this.#open = { path: entry.path, mode, size: entry.size, hash: createHash("sha256"), id };
  }

  data(piece: Buffer): void {
    this.#open?.hash.update(piece);
    this.#open?.id?.update(piece);
  }

  end(): void {
    if (this.#open === null) return;
    const { path, mode, size, hash, id } = this.#open;
    if (id !== null) this.ids?.push(id.digest("hex"));
    this.entries.push([path, { kind: "file", mode, size, sha256: hash.digest("hex") }]);
    this.#open = null;
  }
}
