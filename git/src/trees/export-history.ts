/**
 * Exports a commit and its recent history as the tar of a `.git` directory, for a work tree that was laid out by
 * `exportTree`. Five processes, about 20 ms for a small repository.
 *
 * Only commits, trees and blobs are copied. The config is ours; there are no hooks, remotes, alternates, other branches,
 * tags, notes or stashes, no credentials and no path of this machine. The history has fewer commits than asked for when
 * more would not fit in `maxBytes` or when their objects are missing (a partial clone).
 */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { AntiphonError, limits } from "@antiphon/contracts";
import { BY_PRODUCTS } from "../change/ignored-files.ts";
import type { ObjectFormat } from "../objects/git-object.ts";
import { listTreeWithSizes } from "../objects/objects.ts";
import { objectStore, openRepo, type RepoLike } from "../repository/repo.ts";
import { requireId, withScratch, type ObjectStore, type Scratch } from "../repository/scratch.ts";
import { cutHistory, type HistoryCut } from "./history-cut.ts";
import { writeIndexFile } from "./index-file.ts";
import { FILE_TIME_S, type TarEntry } from "./tar.ts";
import { writeTar } from "./tar-writer.ts";

export interface HistoryOptions {
  /** Most commits, counted from the newest; the parents of the oldest come in addition. */
  commits: number;
  /** The branch that HEAD is on, as a full ref; null: HEAD is detached. */
  branch: string | null;
  /** Sizes of files that are laid out with other content than that of their blob. Asked for at the end. */
  sizes?: () => Promise<ReadonlyMap<string, number>>;
  /** Bound on the objects as stored. Default limits.historyBytes. */
  maxBytes?: number;
}

export interface ExportedHistory {
  tar: Buffer;
  /** Commits in the history. */
  commits: number;
  /** It has fewer than asked for, because more would not fit. */
  cut: boolean;
}

/** What is tried when the history asked for does not fit. */
const FEW_COMMITS = 8;

/** Null: even the commit alone does not fit in `maxBytes`. */
export async function exportHistory(
  repo: RepoLike,
  commit: string,
  options: HistoryOptions,
): Promise<ExportedHistory | null> {
  requireId(commit);
  const store = objectStore(await openRepo(repo));
  const depths = [...new Set([options.commits, Math.min(FEW_COMMITS, options.commits), 1])];
  for (const depth of depths) {
    const isLast = depth === 1;
    const exported = await withScratch(store, (scratch) =>
      copyHistory(scratch, commit, depth, options),
    ).catch((cause: unknown) => {
      const isMissing = cause instanceof AntiphonError && cause.code === "ANT_GIT_FAILED";
      if (!isMissing) throw cause;
      if (!isLast) return null;
      throw new AntiphonError("ANT_REPO_INCOMPLETE", `the commit ${commit} cannot be copied`, { cause });
    });
    if (exported !== null) return { ...exported, cut: depth < options.commits };
  }
  return null;
}

async function copyHistory(
  scratch: Scratch,
  commit: string,
  depth: number,
  options: HistoryOptions,
): Promise<Omit<ExportedHistory, "cut"> | null> {
  const { format } = scratch.store;
  const run = scratch.git.bind(scratch);
  const [listing, files, shallow] = await Promise.all([
    run({ args: ["rev-list", "--parents", `--max-count=${depth}`, commit] }),
    listTreeWithSizes(run, commit),
    shallowCommits(scratch.store),
  ]);
  const cut = cutHistory(listing.toString("latin1"), shallow);
  await writeFile(join(scratch.gitDir, "shallow"), shallowText(cut));
  const used = await run({ args: ["rev-list", "--objects", "--disk-usage", commit] });
  if (Number(used.toString("latin1")) > (options.maxBytes ?? limits.historyBytes)) return null;
  const pack = await packOf(scratch, commit);
  const sizes = await options.sizes?.();
  const index = files.map((file) => ({ ...file, size: sizes?.get(file.path) ?? file.size }));
  const tar = writeTar([
    ...directories(),
    ...headFiles(commit, options.branch),
    plain("config", configText(format)),
    plain("info/exclude", `${BY_PRODUCTS.join("\n")}\n`),
    ...(cut.ends.length === 0 ? [] : [plain("shallow", shallowText(cut))]),
    ...pack,
    // Newer than its entries, as otherwise git takes them for changed in the same second and reads every file.
    { ...plain("index", writeIndexFile(format, index)), timeS: FILE_TIME_S + 1 },
  ]);
  return { tar, commits: cut.commits };
}

async function shallowCommits({ shallowFile }: ObjectStore): Promise<ReadonlySet<string>> {
  if (shallowFile === undefined) return new Set();
  return new Set((await readFile(shallowFile, "latin1")).split("\n"));
}

const shallowText = ({ ends }: HistoryCut): string => ends.map((id) => `${id}\n`).join("");

/** Stored deltas are used again and no new ones are searched, so the size is the one that was measured. */
async function packOf(scratch: Scratch, commit: string): Promise<TarEntry[]> {
  const prefix = join(scratch.gitDir, "export");
  const args = ["pack-objects", "--revs", "-q", "--window=0", "--delta-base-offset", prefix];
  const name = (await scratch.git({ args, stdin: `${commit}\n` })).toString("latin1").trim();
  const files = await Promise.all(["pack", "idx"].map((kind) => readFile(`${prefix}-${name}.${kind}`)));
  return files.map((content, i) => ({
    path: `.git/objects/pack/pack-${name}.${i === 0 ? "pack" : "idx"}`,
    mode: "100444",
    content,
  }));
}

const plain = (path: string, content: Buffer | string): TarEntry => ({
  path: `.git/${path}`,
  mode: "100644",
  content: Buffer.from(content as string),
});

/** Directories that git requires although they hold no file. */
function directories(): TarEntry[] {
  return [".git", ".git/objects", ".git/objects/pack", ".git/refs", ".git/refs/heads"].map((path) => ({
    path,
    mode: "40000",
    content: Buffer.alloc(0),
  }));
}

/** The branch is packed, so its name is never a path. */
function headFiles(commit: string, branch: string | null): TarEntry[] {
  if (branch === null) return [plain("HEAD", `${commit}\n`)];
  const packed = `# pack-refs with: peeled fully-peeled sorted \n${commit} ${branch}\n`;
  return [plain("HEAD", `ref: ${branch}\n`), plain("packed-refs", packed)];
}

function configText(format: ObjectFormat): string {
  const isSha256 = format === "sha256";
  return [
    "[core]",
    `\trepositoryformatversion = ${isSha256 ? 1 : 0}`,
    "\tfilemode = true",
    "\tbare = false",
    "\tlogallrefupdates = true",
    "\tcheckStat = minimal",
    "\ttrustctime = false",
    ...(isSha256 ? ["[extensions]", "\tobjectFormat = sha256"] : []),
    "[user]",
    "\tname = Agent",
    "\temail = agent@localhost",
    "[gc]",
    "\tauto = 0",
    "[maintenance]",
    "\tauto = false",
    "",
  ].join("\n");
}
