/** Which files of a commit name another one. One git process for each question; no file is checked out. */
import { gitFailure, runGit } from "../process/git-process.ts";
import { objectStore, openRepo, type RepoLike } from "../repository/repo.ts";
import { requireId, withScratch } from "../repository/scratch.ts";

const MAX_OUTPUT_BYTES = 4 * 1024 * 1024;
/** The exit code of a search without a result. */
const NONE = 1;

/** The files whose text contains one of the words, itself excepted by the caller. Binary files are left out. */
export async function filesWith(repo: RepoLike, commit: string, words: readonly string[]): Promise<string[]> {
  const opened = await openRepo(repo);
  const id = requireId(commit);
  return withScratch(objectStore(opened), async (scratch) => {
    const call = {
      args: [
        ...["grep", "--files-with-matches", "--null", "-I", "--fixed-strings"],
        ...words.flatMap((word) => ["-e", word]),
        ...[id, "--"],
      ],
      gitDir: scratch.gitDir,
      maxOutputBytes: MAX_OUTPUT_BYTES,
    };
    const result = await runGit(call);
    if (result.exitCode === NONE) return [];
    if (result.exitCode !== 0) throw gitFailure(call, result);
    const lines = result.stdout.toString("utf8").split("\0");
    return lines.filter((line) => line !== "").map((line) => line.slice(id.length + 1));
  });
}
