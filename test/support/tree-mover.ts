/**
 * A process that takes the tree of a commit out of a repository and into a cache, as the Director and the Associate do
 * together, and says how much memory it took.
 *
 *   tree-mover.ts REPOSITORY COMMIT CACHE MAX_BYTES
 */
import { exportTree, TreeCache } from "@antiphon/git";

export interface Moved {
  readonly tree: string;
  readonly bytes: number;
  readonly streamed: boolean;
  /** The most that was resident, and what was before the first byte. */
  readonly peakMiB: number;
  readonly startMiB: number;
}

const peakMiB = (): number => Math.round(process.resourceUsage().maxRSS / 1024);

async function move([repo = "", commit = "", cache = "", maxBytes = ""]: readonly string[]): Promise<Moved> {
  const startMiB = peakMiB();
  const { tree, tar, bytes } = await exportTree(repo, commit, { maxBytes: Number(maxBytes) });
  const streamed = !Buffer.isBuffer(tar);
  await new TreeCache(cache).importTree(tree, streamed ? tar() : tar);
  return { tree, bytes, streamed, peakMiB: peakMiB(), startMiB };
}

console.log(JSON.stringify(await move(process.argv.slice(2))));
