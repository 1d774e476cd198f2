/**
 * What an update of a work tree left that ended in the middle. Git writes the files first and the index at the end: a
 * crash between them leaves files that are as the landing wants them and an index that knows nothing of it, and then
 * git takes those files for somebody's edits. Here the index learns of them, so that the update can go on (J8d).
 *
 * No file is written or read for its own sake: git itself compares, in an index that holds only what is wanted. A path
 * whose index entry the user changed is left alone.
 */
import { gitFailure, type GitCall, type GitResult } from "../process/git-process.ts";
import { decodePath, encodePath } from "../objects/git-path.ts";
import { ABSENT, parseRaw, type RawChange } from "../change/tree-change.ts";

export type WorkTreeGit = (
  args: readonly string[],
  more?: Pick<GitCall, "stdin" | "indexFile">,
) => Promise<GitResult>;

interface Update {
  from: string;
  to: string;
  /** Where an index may be made that nobody else looks at. */
  spareIndex: string;
}

/** Four processes, five when there was something. @returns whether the index changed */
export async function adoptWritten(run: WorkTreeGit, { from, to, spareIndex }: Update): Promise<boolean> {
  const ask = async (
    args: readonly string[],
    more?: Pick<GitCall, "stdin" | "indexFile">,
  ): Promise<Buffer> => {
    const result = await run(args, more);
    if (result.exitCode !== 0) throw gitFailure({ args }, result);
    return result.stdout;
  };
  const changes = parseRaw(await ask(["diff-tree", "-r", "-z", "--no-renames", "--full-index", from, to]));
  const staged = names(await ask(["diff-index", "--cached", "--name-only", "-z", from, "--"]));
  const wanted = changes.filter(
    ({ path, newMode }) => newMode !== ABSENT && newMode !== GITLINK && !isNear(path, staged),
  );
  if (wanted.length === 0) return false;
  const spare = { indexFile: spareIndex };
  await ask(["update-index", "-z", "--index-info"], { ...spare, stdin: entriesOf(wanted) });
  await run(["update-index", "-q", "--refresh"], spare); // Its exit code says no more than the next answer.
  const other = new Set(names(await ask(["diff-files", "--name-only", "-z"], spare)));
  const written = wanted.filter(({ path }) => !other.has(path));
  if (written.length === 0) return false;
  await ask(["update-index", "-z", "--index-info"], { stdin: entriesOf(written) });
  return true;
}

const GITLINK = "160000";

/** `<mode> SP <id> TAB <path> NUL` */
function entriesOf(changes: readonly RawChange[]): Buffer {
  return Buffer.concat(
    changes.flatMap(({ newMode, newId, path }) => [
      Buffer.from(`${newMode} ${newId}\t`),
      encodePath(path),
      Buffer.of(0),
    ]),
  );
}

function names(listing: Buffer): string[] {
  const found: string[] = [];
  for (let at = 0; at < listing.length;) {
    const end = listing.indexOf(0, at);
    if (end === -1) break;
    found.push(decodePath(listing.subarray(at, end)));
    at = end + 1;
  }
  return found;
}

/** The path itself, or one that could not be there beside it. */
function isNear(path: string, others: readonly string[]): boolean {
  return others.some(
    (other) => other === path || other.startsWith(`${path}/`) || path.startsWith(`${other}/`),
  );
}
