/**
 * Refuses a branch to land on that nobody meant: one of the names of Antiphon's own branches, and a new one whose name is a slip of
 * an existing branch or that of a tag. A caller who means such a new branch gives its full name, `refs/heads/<branch>`.
 */
import { AntiphonError, isSlip } from "@antiphon/contracts";
import { runGit } from "../process/git-process.ts";
import { resolveRefs, type Repo } from "../repository/repo.ts";

const HEADS = "refs/heads/";
const OWN = `${HEADS}antiphon/`;

/** More branches are not compared. */
const MOST_BRANCHES = 20_000;

/**
 * @param named as the caller gave it
 * @param moves the branch that moves: another one if the named one is a symbolic ref
 * @throws AntiphonError ANT_REPO_REF_RESERVED, ANT_REPO_REF_UNSURE
 */
export async function requireLandTarget(
  repo: Repo,
  named: string,
  { moves, isNew }: { readonly moves: string; readonly isNew: boolean },
): Promise<void> {
  if (moves.startsWith(OWN)) {
    const message = `${moves.slice(HEADS.length)}: branches below antiphon/ are those of runs, races and sessions`;
    throw new AntiphonError("ANT_REPO_REF_RESERVED", message);
  }
  if (!isNew || named.startsWith("refs/")) return;
  const [tag] = await resolveRefs(repo, [`refs/tags/${named}`]);
  if (tag != null) throw unsure(`there is no branch ${named}, but a tag of this name`);
  const meant = (await branchesOf(repo)).find((branch) => isSlip(named, branch));
  if (meant !== undefined) throw unsure(`there is no branch ${named}; did you mean ${meant}?`);
}

function unsure(message: string): AntiphonError {
  return new AntiphonError("ANT_REPO_REF_UNSURE", message);
}

async function branchesOf(repo: Repo): Promise<string[]> {
  const args = ["for-each-ref", `--count=${MOST_BRANCHES}`, "--format=%(refname)", HEADS];
  const result = await runGit({ gitDir: repo.commonDir, args });
  if (result.exitCode !== 0) throw new AntiphonError("ANT_REPO_UNREADABLE", result.stderr);
  return result.stdout
    .toString("utf8")
    .split("\n")
    .filter((ref) => ref !== "" && !ref.startsWith(OWN))
    .map((ref) => ref.slice(HEADS.length));
}
