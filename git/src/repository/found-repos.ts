/**
 * Remembers where repositories are, so that a run asks git once instead of at each of its steps (5 ms of process each).
 *
 * Git's answer is used again while every file that decided it is the same: the directories from the path up to the top of the
 * work tree, `.git`, the git directory, its `HEAD`, `commondir`, `config`, `config.worktree` and `shallow`. A repository whose files
 * changed within the last seconds is asked for each time, because a second change could have the same time stamp. A file that
 * a config includes does not decide where a repository is.
 */
import { lstat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { LRUCache } from "lru-cache";
import { openRepo, requireDirectory, type Repo } from "./repo.ts";

interface Found {
  readonly repo: Repo;
  readonly stamp: string;
}

const REMEMBERED = 256;
/** Coarser than the time stamps of any file system. */
const RACY_MS = 2_000;
const NOTHING = "-";

export class FoundRepos {
  /** By real path. */
  readonly #known = new LRUCache<string, Found>({ max: REMEMBERED });
  readonly #now: () => number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** The same answer and the same errors as `openRepo`. */
  async find(path: string): Promise<Repo> {
    const real = await requireDirectory(path);
    const known = this.#known.get(real);
    if (known !== undefined && (await stampOf(real, known.repo)).text === known.stamp) return known.repo;
    this.#known.delete(real);
    const repo = await openRepo(real);
    const { text, newestMs } = await stampOf(real, repo);
    if (this.#now() - newestMs > RACY_MS) this.#known.set(real, { repo, stamp: text });
    return repo;
  }
}

interface Stamp {
  readonly text: string;
  readonly newestMs: number;
}

async function stampOf(path: string, { top, gitDir, commonDir }: Repo): Promise<Stamp> {
  const files = [
    join(gitDir, "commondir"),
    ...[gitDir, commonDir].flatMap((directory) => [
      join(directory, "config"),
      join(directory, "config.worktree"),
      join(directory, "shallow"),
    ]),
    ...upTo(path, top).map((directory) => join(directory, ".git")),
  ];
  const found = await Promise.all([gitDir, commonDir, join(gitDir, "HEAD"), ...files].map(stampOfFile));
  return {
    text: found.map(({ text }) => text).join("\n"),
    newestMs: Math.max(...found.map(({ newestMs }) => newestMs)),
  };
}

/** Of a directory its identity counts, not its entries, which change all the time. */
async function stampOfFile(path: string): Promise<Stamp> {
  const found = await lstat(path, { bigint: true }).catch(() => null);
  if (found === null) return { text: NOTHING, newestMs: 0 };
  const { dev, ino, mode, size, ctimeNs } = found;
  if (found.isDirectory()) return { text: [dev, ino, mode].join(" "), newestMs: 0 };
  return { text: [dev, ino, mode, size, ctimeNs].join(" "), newestMs: Number(ctimeNs / 1_000_000n) };
}

/** The directory and those above it, up to the top. */
function upTo(path: string, top: string): string[] {
  const found = [path];
  for (let at = path; at !== top && dirname(at) !== at;) {
    at = dirname(at);
    found.push(at);
  }
  return found;
}
