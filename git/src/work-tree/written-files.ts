/**
 * Recovers an update of a work tree that stopped halfway. Git writes the files first and the index last. After a crash
 * in between, the files are as the landing wants them but the index is old, and git would take the files for local
 * edits. This module adds them to the index, so that the update can continue.
 *
 * Only git compares contents, in an index that holds just the wanted paths. A path whose index entry the user changed
 * is left alone.
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
  /** Path for a temporary index that no other process uses. */
  spareIndex: string;
}

/** Four processes, or five when something was adopted. @returns whether the index changed */
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
  await run(["update-index", "-q", "--refresh"], spare); // The exit code is ignored: the next command shows the same.
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

/** The paths of a listing with `-z`. */
export function names(listing: Buffer): string[] {
  const found: string[] = [];
  for (let at = 0; at < listing.length;) {
    const end = listing.indexOf(0, at);
    if (end === -1) break;
    found.push(decodePath(listing.subarray(at, end)));
    at = end + 1;
  }
  return found;
}

/** True for the path itself, or one that could not exist beside it. */
export function isNear(path: string, others: readonly string[]): boolean {
  return others.some(
    (other) => other === path || other.startsWith(`${path}/`) || path.startsWith(`${other}/`),
  );
}
