/**
 * Exports the content that a commit only points to (linked-content.ts) as a tar that is laid over its tree: the files of
 * submodules instead of empty directories, and the content of files in Git LFS instead of pointers.
 *
 * Content that is not on this machine, or does not fit in `maxBytes`, stays an empty directory or a pointer. It is named
 * with a remedy.
 */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { AntiphonError, limits } from "@antiphon/contracts";
import { GITLINK_MODE } from "../objects/git-object.ts";
import { listTree, readObjects } from "../objects/objects.ts";
import type { RepoLike } from "../repository/repo.ts";
import { withScratch, type ObjectStore } from "../repository/scratch.ts";
import { requirePlainNames } from "../trees/plain-names.ts";
import type { TarEntry } from "../trees/tar.ts";
import { writeTar } from "../trees/tar-writer.ts";
import { absentContent } from "./absent-content.ts";
import { linkedContent, type LfsFile, type LinkedContent, type Served } from "./linked-content.ts";

export interface ExportedLinked {
  /** Null: there is nothing to lay over the tree. */
  tar: Buffer | null;
  /** Bytes of each file in Git LFS that is in the tar. */
  sizes: ReadonlyMap<string, number>;
  /** What the tar lacks, in sentences for people. */
  absent: string[];
}

export async function exportLinked(
  repo: RepoLike,
  commit: string,
  served: Served,
  maxBytes: number = limits.linkedBytes,
): Promise<ExportedLinked> {
  const found = await linkedContent(repo, commit, served);
  const entries: TarEntry[] = [];
  const absent: LinkedContent = { submodules: [], files: [] };
  const sizes = new Map<string, number>();
  let room = maxBytes;
  for (const module of found.submodules) {
    const files = module.store === null ? null : await moduleFiles(module.store, module.commit, room);
    if (files === null) {
      absent.submodules.push({ ...module, store: null });
      continue;
    }
    for (const file of files) {
      room -= file.content.length;
      entries.push({ ...file, path: `${module.path}/${file.path}` });
    }
  }
  for (const file of found.files) {
    const content = file.pointer.size > room ? null : await lfsContent(file);
    if (content === null) {
      absent.files.push({ ...file, place: null });
      continue;
    }
    room -= content.length;
    sizes.set(file.path, content.length);
    entries.push({ path: file.path, mode: file.mode, content });
  }
  return { tar: entries.length === 0 ? null : writeTar(entries), sizes, absent: absentContent(absent) };
}

/** Null: they are too large or incomplete. A submodule inside is an empty directory here. */
async function moduleFiles(store: ObjectStore, commit: string, room: number): Promise<TarEntry[] | null> {
  try {
    return await withScratch(store, async (scratch) => {
      const run = scratch.git.bind(scratch);
      const listed = await listTree(run, commit);
      requirePlainNames(listed);
      const blobs = listed.filter(({ mode }) => mode !== GITLINK_MODE);
      const contents = await readObjects(
        run,
        blobs.map(({ id }) => id),
        room,
      );
      const bytes = [...contents.values()].reduce((sum, { body }) => sum + body.length, 0);
      if (bytes > room) return null;
      return listed.map(({ path, mode, id }) => ({
        path,
        mode: mode === GITLINK_MODE ? "40000" : mode,
        content: contents.get(id)?.body ?? Buffer.alloc(0),
      }));
    });
  } catch (thrown) {
    const isAbsent =
      thrown instanceof AntiphonError &&
      ["ANT_GIT_OUTPUT_LIMIT", "ANT_REPO_INCOMPLETE", "ANT_GIT_FAILED"].includes(thrown.code);
    if (isAbsent) return null;
    throw thrown;
  }
}

/** Null: the file is not there, or not what the pointer names. */
async function lfsContent({ pointer, place }: LfsFile): Promise<Buffer | null> {
  if (place === null) return null;
  const content = await readFile(place).catch(() => null);
  if (content === null || content.length !== pointer.size) return null;
  return createHash("sha256").update(content).digest("hex") === pointer.oid ? content : null;
}
